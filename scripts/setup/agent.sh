#!/usr/bin/env bash
# agent.sh NAME: a real agent that the rides run offline: claude, codex, qwen, gemini or opencode.
. "$(dirname "$0")/lib.sh"

declare -A packages=([claude]=@anthropic-ai/claude-code [codex]=@openai/codex [qwen]=@qwen-code/qwen-code [gemini]=@google/gemini-cli [opencode]=opencode-ai)
agent=${1:?which agent: ${!packages[*]}}
package=${packages[$agent]:-}
[ -n "$package" ] || die "no agent $agent; there are ${!packages[*]}"
pinned=${agent^^}_VERSION
version=${!pinned}

build() {
  npm_install "$1" "$package@$version"
}

try() {
  # They write into their home as soon as they start.
  HOME=$(mktemp -d)
  export HOME
  trap 'rm -rf "$HOME"' EXIT
  "$1/node_modules/.bin/$agent" --version | grep -F "$version"
}

ensure "agent-$agent" "$version"
