#!/usr/bin/env bash
# The MCP filesystem server that `make bench` compares with.
. "$(dirname "$0")/lib.sh"

build() {
  npm_install "$1" "@modelcontextprotocol/server-filesystem@$MCP_FILESYSTEM_VERSION"
}

try() {
  # It has no --version: it must answer initialize.
  local hello='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"setup","version":"1"}}}'
  echo "$hello" | timeout 30 "$1/node_modules/.bin/mcp-server-filesystem" "$1" | grep -q '"protocolVersion"'
}

ensure mcp-server-filesystem "$MCP_FILESYSTEM_VERSION"
