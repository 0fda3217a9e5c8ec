#!/usr/bin/env bash
# nfpm, which packs .deb and .rpm. Later versions, and goreleaser, need a module that the Go module proxy refuses.
. "$(dirname "$0")/lib.sh"

build() {
  GOBIN=$1 go install -trimpath -ldflags '-s -w' "github.com/goreleaser/nfpm/v2/cmd/nfpm@$NFPM_VERSION"
}

try() {
  "$1/nfpm" --version
}

ensure nfpm "$NFPM_VERSION"
