#!/usr/bin/env bash
# bin/wine runs Windows programs: Debian's wine64 with the one library of a newer Debian's that Go's programs need, in
# WINEPREFIX, such as prefix. Half a minute.
. "$(dirname "$0")/lib.sh"
. "$here/debian.sh"
"$here/apt.sh" WINE

build() {
  mkdir -p "$1/bin" "$1/newer" &&
    unpack "$1/newer" "$WINE_DEBIAN" libwine &&
    mv "$1"/newer/root/usr/lib/x86_64-linux-gnu/wine/x86_64-windows/bcryptprimitives.dll "$1" &&
    rm -rf "$1/newer" &&
    mkdir -p "$1/dlls/x86_64-windows" && mv "$1/bcryptprimitives.dll" "$1/dlls/x86_64-windows" &&
    cat >"$1/bin/wine" <<'WINE' &&
#!/bin/sh
export WINEDEBUG=-all WINEDLLPATH="$(dirname "$(dirname "$0")")/dlls"
exec /usr/lib/wine/wine64 "$@"
WINE
    chmod +x "$1/bin/wine" &&
    WINEPREFIX="$1/prefix" "$1/bin/wine" wineboot --init &&
    WINEPREFIX="$1/prefix" /usr/lib/wine/wineserver64 --wait &&
    cp "$1/dlls/x86_64-windows/bcryptprimitives.dll" "$1/prefix/drive_c/windows/system32"
}

try() {
  [ -f "$1/prefix/system.reg" ] && [ -f "$1/dlls/x86_64-windows/bcryptprimitives.dll" ]
}

ensure wine "debian-$WINE_DEBIAN"
