#!/usr/bin/env bash
# The real agents that the tests run offline: Claude Code, Codex, Qwen Code, Gemini CLI and opencode.
. "$(dirname "$0")/lib.sh"

build() {
  npm_install "$1" "@anthropic-ai/claude-code@$CLAUDE_VERSION" "@openai/codex@$CODEX_VERSION" "@qwen-code/qwen-code@$QWEN_VERSION" \
    "@google/gemini-cli@$GEMINI_VERSION" "opencode-ai@$OPENCODE_VERSION"
}

try() {
  local bin=$1/node_modules/.bin
  # They write into their home as soon as they start.
  HOME=$(mktemp -d)
  export HOME
  trap 'rm -rf "$HOME"' EXIT
  "$bin/claude" --version | grep -F "$CLAUDE_VERSION" &&
    "$bin/codex" --version | grep -F "$CODEX_VERSION" &&
    "$bin/qwen" --version | grep -F "$QWEN_VERSION" &&
    "$bin/gemini" --version | grep -F "$GEMINI_VERSION" &&
    "$bin/opencode" --version | grep -F "$OPENCODE_VERSION"
}

ensure agents "claude-$CLAUDE_VERSION-codex-$CODEX_VERSION-qwen-$QWEN_VERSION-gemini-$GEMINI_VERSION-opencode-$OPENCODE_VERSION"
