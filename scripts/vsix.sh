#!/usr/bin/env bash
# The VS Code extension with this machine's binary in it: vscode-extension/pillion.vsix.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/build.sh bin/pillion
install -D bin/pillion vscode-extension/bin/pillion
scripts/npm-ci.sh vscode-extension
cd vscode-extension
npm run --silent package -- --allow-missing-repository
