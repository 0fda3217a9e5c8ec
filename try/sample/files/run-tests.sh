#!/bin/sh
# Runs every test in tests/; -B leaves no compiled files behind.
cd "$(dirname "$0")" || exit 1
exec python3 -B -m unittest discover -s tests -t .
