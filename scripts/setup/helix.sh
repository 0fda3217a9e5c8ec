#!/usr/bin/env bash
# Helix for the tests: bin/hx. Debian 12 has none. Some seconds.
. "$(dirname "$0")/lib.sh"
. "$here/debian.sh"
"$here/apt.sh" UNPACKED TERMINAL

build() {
  unpack "$1" "$HELIX_DEBIAN" hx libc6 libgcc-s1 && settle "$1" usr/lib/hx/hx
}

try() {
  in_place "$1" usr/lib/hx/hx --version
}

ensure helix "debian-$HELIX_DEBIAN"
