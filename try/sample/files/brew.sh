#!/bin/sh
# brew.sh TEA [STEEP]: what this tea wants.
cd "$(dirname "$0")" || exit 1
exec python3 -B -m kettle "$@"
