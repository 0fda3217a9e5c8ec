#!/usr/bin/env bash
# setup.sh [PART…]: makes these parts of the tool chain stand, or all of them; see scripts/setup.
set -euo pipefail
cd "$(dirname "$0")/setup"
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(apt node24 code-server agents peer neovim helix stylua go-tools language-servers gopls nfpm wine)
for part in "${parts[@]}"; do
  "./$part.sh" >/dev/null
done
