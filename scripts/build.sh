#!/usr/bin/env bash
# build.sh OUT: the stripped binary. GOOS and GOARCH choose another system.
set -euo pipefail
cd "$(dirname "$0")/.."
export CGO_ENABLED=0
exec go build -trimpath -buildvcs=false -ldflags '-s -w' -o "$1" .
