#!/usr/bin/env bash
# gofumpt and staticcheck, built with the Go in use: staticcheck cannot read code newer than its compiler.
. "$(dirname "$0")/lib.sh"

build() {
  GOBIN=$1 go install "mvdan.cc/gofumpt@$GOFUMPT_VERSION" &&
    GOBIN=$1 go install "honnef.co/go/tools/cmd/staticcheck@$STATICCHECK_VERSION"
}

try() {
  "$1/gofumpt" --version && "$1/staticcheck" -version
}

ensure go-tools "$(go env GOVERSION)-gofumpt-$GOFUMPT_VERSION-staticcheck-$STATICCHECK_VERSION"
