#!/usr/bin/env bash
# npm-ci.sh DIR: DIR/node_modules exactly as DIR/package-lock.json has it; quick when it stands already.
set -euo pipefail
cd "$1"
stamp=node_modules/.installed-from
lock=$(sha256sum package-lock.json)
[ "$(cat $stamp 2>/dev/null)" = "$lock" ] && exit 0
npm ci --no-audit --no-fund --no-update-notifier --ignore-scripts=false
echo "$lock" >$stamp
