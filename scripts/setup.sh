#!/usr/bin/env bash
# setup.sh [PART…]: makes these parts of the tool chain stand, or all of them; see scripts/setup. A part may have words of
# its own: setup.sh 'agent claude' 'apt CHROMIUM'.
set -euo pipefail
cd "$(dirname "$0")/setup"
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=('apt GO CHROMIUM TERMINAL LUA EMACS RELEASE BENCH' node24 code-server 'agent claude' 'agent codex' 'agent qwen' 'agent gemini' 'agent opencode'
  peer neovim helix stylua go-tools language-servers gopls nfpm wine)
for part in "${parts[@]}"; do
  read -ra words <<<"$part"
  "./${words[0]}.sh" "${words[@]:1}" >/dev/null
done
