#!/usr/bin/env bash
# VS Code as a server (code-server), compiled under Node 24. About two minutes.
. "$(dirname "$0")/lib.sh"
"$here/apt.sh" CODE_SERVER

node24=$("$here/node24.sh")
export PATH="$node24/node_modules/.bin:$PATH"

build() {
  # Headers from the npm package: a machine that reaches registries alone cannot download Node's.
  local headers
  headers=$(echo "$node24"/node_modules/node/node_modules/node-*/include)
  export npm_config_nodedir=${headers%/include}
  export CFLAGS=-O0 CXXFLAGS=-O0 # a database for VS Code's own state need not be compiled for minutes
  npm_install "$1" "code-server@$CODE_SERVER_VERSION"
}

try() {
  "$1/node_modules/.bin/code-server" --version | grep -q "^$CODE_SERVER_VERSION "
}

ensure code-server "$CODE_SERVER_VERSION"
