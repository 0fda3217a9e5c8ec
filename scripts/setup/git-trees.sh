#!/usr/bin/env bash
# What `make bench` asks git about: the kernel's source as Debian packs it, in a repository of one commit, and a repository
# of many commits that is made up (lib/git-history.mjs). Two minutes or more, and 2 GB; `make test` needs neither.
. "$(dirname "$0")/lib.sh"

in_git() {
  local dir=$1
  shift
  GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 git -C "$dir" -c gc.auto=0 -c user.name=bench -c user.email=bench@example.com "$@"
}

# source DIR: the newest package of this release of the kernel, of which only the text is kept.
source_of_linux() {
  local dir=$1
  mkdir "$dir/package" &&
    (cd "$dir/package" && apt-get download "linux-source-$LINUX_SOURCE_VERSION") &&
    dpkg-deb --fsys-tarfile "$dir"/package/*.deb | tar -x -C "$dir/package" --wildcards "*/linux-source-$LINUX_SOURCE_VERSION.tar.xz" &&
    mkdir "$dir/linux" &&
    tar -xf "$dir/package/usr/src/linux-source-$LINUX_SOURCE_VERSION.tar.xz" -C "$dir/linux" --strip-components 1 &&
    rm -rf "$dir/package"
}

build() {
  source_of_linux "$1" &&
    in_git "$1/linux" init -q -b main &&
    in_git "$1/linux" -c core.compression=1 add --all --force &&
    in_git "$1/linux" commit -q -m "linux $LINUX_SOURCE_VERSION" &&
    in_git "$1/linux" gc -q &&
    in_git "$1/linux" status >/dev/null &&
    in_git "$1" init -q -b main history &&
    node "$here/../lib/git-history.mjs" | in_git "$1/history" fast-import --quiet &&
    in_git "$1/history" gc -q &&
    in_git "$1/history" reset -q --hard
}

try() {
  in_git "$1/linux" rev-parse --verify HEAD && in_git "$1/history" rev-parse --verify HEAD && [ -f "$1/linux/Makefile" ]
}

ensure git-trees "linux-$LINUX_SOURCE_VERSION-history-1"
