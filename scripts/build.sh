#!/usr/bin/env bash
# build.sh OUT: the stripped binary. GOOS and GOARCH choose another system; RELEASE is the version of a release.
set -euo pipefail
cd "$(dirname "$0")/.."
export CGO_ENABLED=0
read -r commit date <scripts/commit # git archive fills it in
case $commit in '$'*) read -r commit date < <(git log -1 --format='%H %cI' 2>/dev/null || echo) || true ;; esac
exec go build -trimpath -buildvcs=false -o "$1" \
  -ldflags "-s -w -buildid= -X main.commit=$commit -X main.date=$date ${RELEASE:+-X main.version=$RELEASE}" .
