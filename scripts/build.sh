#!/usr/bin/env bash
# build.sh OUT: the stripped binary. GOOS and GOARCH choose another system; RELEASE is the version of a release.
set -euo pipefail
cd "$(dirname "$0")/.."
export CGO_ENABLED=0
stamp=$(TZ=UTC git log -1 --format='-X main.commit=%h -X main.date=%cd' --abbrev=12 --date=format-local:%Y-%m-%d 2>/dev/null || true)
exec go build -trimpath -buildvcs=false -ldflags "-s -w -buildid= $stamp ${RELEASE:+-X main.version=$RELEASE}" -o "$1" .
