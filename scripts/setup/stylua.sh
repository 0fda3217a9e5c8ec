#!/usr/bin/env bash
# StyLua, the formatter of the plugin's Lua, as WebAssembly: the package with the binary downloads it from elsewhere.
. "$(dirname "$0")/lib.sh"

build() {
  npm_install "$1" "@johnnymorganz/stylua@$STYLUA_VERSION"
}

try() {
  [ "$(node "$here/../lua-format.mjs" --tool "$1" --stdin <<<'x   =  1')" = "x = 1" ]
}

ensure stylua "$STYLUA_VERSION"
