#!/usr/bin/env bash
# Node 24, for code-server alone. The npm package carries the binary and the headers that native modules compile against.
. "$(dirname "$0")/lib.sh"

build() {
  npm_install "$1" "node@$NODE24_VERSION"
}

try() {
  [ "$("$1/node_modules/.bin/node" --version)" = "v$NODE24_VERSION" ]
}

ensure node "$NODE24_VERSION"
