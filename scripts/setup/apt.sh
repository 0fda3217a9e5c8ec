#!/usr/bin/env bash
# Debian packages. Does nothing, and asks for no rights, when all of them are installed.
. "$(dirname "$0")/lib.sh"

installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    env DEBIAN_FRONTEND=noninteractive "$@"
  elif command -v sudo >/dev/null; then
    sudo env DEBIAN_FRONTEND=noninteractive "$@"
  else
    die "needs root or sudo to install: ${missing[*]}"
  fi
}

command -v dpkg-query >/dev/null || die "not a Debian machine; install by hand what corresponds to: $APT_PACKAGES"

missing=()
for package in $APT_PACKAGES; do
  installed "$package" || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

echo "setup: installing ${missing[*]}" >&2
log=$(mktemp)
if ! { as_root apt-get update && as_root apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 </dev/null; then
  tail -n 40 "$log" >&2
  die "apt-get failed; the whole output is in $log"
fi
rm -f "$log"
