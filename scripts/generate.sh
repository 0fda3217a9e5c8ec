#!/usr/bin/env bash
# Writes every generated file anew: what Go generates, and the extension's tables from the tools' catalogue.
set -euo pipefail
cd "$(dirname "$0")/.."
go generate ./...
go run -buildvcs=false . tools --json | node vscode-extension/scripts/generate-tools.mjs
node scripts/rides.mjs --table
