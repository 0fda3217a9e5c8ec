#!/usr/bin/env bash
# gopls, built with the Go in use: it cannot read code newer than its compiler. One or two minutes.
. "$(dirname "$0")/lib.sh"

build() {
  GOBIN=$1 go install "golang.org/x/tools/gopls@$GOPLS_VERSION"
}

try() {
  "$1/gopls" version | grep -F "$GOPLS_VERSION"
}

ensure gopls "$GOPLS_VERSION-$(go env GOVERSION)"
