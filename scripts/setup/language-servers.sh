#!/usr/bin/env bash
# Language servers that npm has: bash-language-server and typescript-language-server with TypeScript beside it. The others
# are Debian packages (pylsp, with shellcheck for bash-language-server) and gopls.sh.
. "$(dirname "$0")/lib.sh"

build() {
  npm_install "$1" "bash-language-server@$BASH_LS_VERSION" "typescript-language-server@$TYPESCRIPT_LS_VERSION" "typescript@$TYPESCRIPT_VERSION"
  npm_install "$1/native" "typescript@$TYPESCRIPT_NATIVE_VERSION" # of which tsc is the server
}

try() {
  local bin=$1/node_modules/.bin
  "$bin/bash-language-server" --version | grep -F "$BASH_LS_VERSION" &&
    "$bin/typescript-language-server" --version | grep -F "$TYPESCRIPT_LS_VERSION" &&
    "$bin/tsc" --version | grep -F "$TYPESCRIPT_VERSION" &&
    "$1/native/node_modules/.bin/tsc" --version | grep -F "$TYPESCRIPT_NATIVE_VERSION"
}

ensure language-servers "bash-$BASH_LS_VERSION-typescript-$TYPESCRIPT_LS_VERSION-with-$TYPESCRIPT_VERSION-and-$TYPESCRIPT_NATIVE_VERSION"
