#!/usr/bin/env bash
# Neovim for the tests: bin/nvim. Debian 12 has only 0.7. Some seconds.
. "$(dirname "$0")/lib.sh"
. "$here/debian.sh"
"$here/apt.sh" UNPACKED

packages=(neovim neovim-runtime libc6 libgcc-s1 libluajit-5.1-2 libluajit-5.1-common libmsgpack-c2 libtree-sitter0.22
  libunibilium4 libuv1t64 libvterm0 lua-lpeg lua-luv libutf8proc3)

build() {
  unpack "$1" "$NEOVIM_DEBIAN" "${packages[@]}" &&
    mv "$1/root/usr/lib/nvim/parser" "$1/root/usr/share/nvim/runtime/parser" &&
    settle "$1" usr/bin/nvim
}

try() {
  VIMRUNTIME="$1/root/usr/share/nvim/runtime" in_place "$1" usr/bin/nvim --headless -u NONE -i NONE -n \
    '+lua vim.cmd((vim.fn.has("nvim-0.10") == 1 and vim.treesitter.get_string_parser("x = 1", "lua")) and "qall!" or "cquit")' </dev/null
}

ensure neovim "debian-$NEOVIM_DEBIAN"
