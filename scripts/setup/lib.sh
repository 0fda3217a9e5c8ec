# Sourced by the parts in this folder. A part stands in one folder of the cache, <name>-<version>, which appears whole or
# not at all: it is built beside its place, tried, stamped and renamed. A part prints its folder on stdout and nothing
# else; a build's output is shown only when it fails. A part's `build` and `try` chain their commands with &&, because
# bash ignores `set -e` in what a condition calls.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../versions.env"
cache=${PILLION_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pillion}

die() {
  echo "setup: $*" >&2
  exit 1
}

# ensure NAME VERSION: makes the part with the caller's `build DIR` unless it stands already and its `try DIR` succeeds.
ensure() {
  local name=$1 version=$2
  local place=$cache/$name-$version
  mkdir -p "$cache"
  exec 9>"$cache/.$name.lock"
  flock 9
  if ! stands "$place" "$name $version"; then
    make_anew "$place" "$name $version"
  fi
  exec 9>&-
  echo "$place"
}

stands() {
  local place=$1 stamp=$2
  [ "$(cat "$place/.stamp" 2>/dev/null)" = "$stamp" ] && (try "$place") >/dev/null 2>&1
}

make_anew() {
  local place=$1 stamp=$2
  local began=$SECONDS work log
  rm -rf "$place".making.* # of a run that was interrupted; the lock is ours
  work=$(mktemp -d "$place.making.XXXXXX")
  log=$work.log
  echo "setup: making $stamp" >&2
  if ! (build "$work") >"$log" 2>&1 9>&- </dev/null; then
    tail -n 40 "$log" >&2
    rm -rf "$work"
    die "$stamp could not be made; the whole output is in $log"
  fi
  if ! (try "$work") >"$log" 2>&1 9>&-; then
    tail -n 40 "$log" >&2
    rm -rf "$work"
    die "$stamp was made but does not run; its output is in $log"
  fi
  echo "$stamp" >"$work/.stamp"
  rm -rf "$place"
  mv "$work" "$place"
  rm -f "$log"
  echo "setup: made $stamp in $((SECONDS - began)) s" >&2
}

# npm_install DIR PACKAGE…: exactly these packages, with their install scripts, into DIR/node_modules.
npm_install() {
  local dir=$1
  shift
  npm install --prefix "$dir" --no-audit --no-fund --no-update-notifier --save-exact --ignore-scripts=false "$@"
}
