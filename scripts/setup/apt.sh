#!/usr/bin/env bash
# apt.sh GROUP…: the Debian packages of these groups (APT_… in versions.env). Does nothing, and asks for no rights, when
# all of them are installed.
. "$(dirname "$0")/lib.sh"

as_root() {
  if [ "$(id -u)" = 0 ]; then
    env DEBIAN_FRONTEND=noninteractive "$@"
  elif command -v sudo >/dev/null; then
    sudo env DEBIAN_FRONTEND=noninteractive "$@"
  else
    die "needs root or sudo to install: ${missing[*]}"
  fi
}

install() {
  as_root apt-get install -y --no-install-recommends "${missing[@]}"
}

wanted=()
for group in "$@"; do
  name=APT_$group
  [ -n "${!name:-}" ] || die "versions.env has no $name"
  read -ra packages <<<"${!name}"
  wanted+=("${packages[@]}")
done

command -v dpkg-query >/dev/null || die "not a Debian machine; install by hand what corresponds to: ${wanted[*]}"

mkdir -p "$cache"
exec 9>"$cache/.apt.lock"
flock 9
mapfile -t missing < <(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null |
  awk '$1 == "installed" { print $2 }' | sort -u | comm -13 - <(printf '%s\n' "${wanted[@]}" | sort -u))
[ ${#missing[@]} -eq 0 ] && exit 0

echo "setup: installing ${missing[*]}" >&2
log=$(mktemp)
# The lists that a machine has may be old, or not be there.
if ! { install || { as_root apt-get update && install; }; } >"$log" 2>&1 9>&- </dev/null; then
  tail -n 40 "$log" >&2
  die "apt-get failed; the whole output is in $log"
fi
rm -f "$log"
