#!/usr/bin/env bash
# Neovim for the tests: bin/nvim. Debian 12 has only 0.7, so the packages of Debian 13 are unpacked into a folder, with their
# own C library; nothing is installed, and no rights are needed. Some seconds.
. "$(dirname "$0")/lib.sh"

packages=(neovim neovim-runtime libc6 libgcc-s1 libluajit-5.1-2 libluajit-5.1-common libmsgpack-c2 libtree-sitter0.22
  libunibilium4 libuv1t64 libvterm0 lua-lpeg lua-luv libutf8proc3)

# The mirror that this machine takes its own Debian from.
mirror() {
  local own
  own=$(. /etc/os-release && echo "$VERSION_CODENAME")
  apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(SITE)' 'Created-By: Packages' |
    awk -v own="$own" '$1 == own && $2 == "main" { print $3; found = 1; exit } END { exit !found }'
}

build() {
  local dir=$1 apt=$1/apt from
  from=$(mirror) || die "apt knows no Debian mirror"
  mkdir -p "$apt"/{state/lists/partial,cache/archives/partial,packages} "$dir"/{root,bin} &&
    : >"$apt/status" &&
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $from $NEOVIM_DEBIAN main" >"$apt/sources.list" &&
    private_apt "$apt" update &&
    (cd "$apt/packages" && private_apt "$apt" download "${packages[@]}") &&
    for package in "$apt"/packages/*.deb; do dpkg -x "$package" "$dir/root" || return; done &&
    rm -rf "$apt" &&
    settle "$dir"
}

private_apt() {
  local apt=$1
  shift
  apt-get -o "Dir::State=$apt/state" -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt/cache" \
    -o "Dir::Etc::SourceList=$apt/sources.list" -o Dir::Etc::SourceParts=- -o Dir::Etc::PreferencesParts=- \
    -o "APT::Sandbox::User=$(id -un)" "$@"
}

# Makes the program find its own libraries. It starts itself once more by the name of what runs, so a script that calls the
# loader will not do; the loader is named by its full path, which holds from the moment that the part stands in its place.
settle() {
  local dir=$1 place=${1%.making.*} libraries
  libraries=$(libraries "$dir")
  mv "$dir/root/usr/lib/nvim/parser" "$dir/root/usr/share/nvim/runtime/parser" &&
    patchelf --force-rpath --set-rpath "$place${libraries#"$dir"}" \
      --set-interpreter "$place$(loader "$libraries" | sed "s|^$dir||")" "$dir/root/usr/bin/nvim" &&
    ln -s ../root/usr/bin/nvim "$dir/bin/nvim"
}

libraries() {
  dirname "$1"/root/usr/lib/*/libc.so.6
}

loader() {
  echo "$1"/ld-linux*.so.*
}

try() {
  local dir=$1 program=("$1/bin/nvim")
  if [[ $dir == *.making.* ]]; then
    local libraries
    libraries=$(libraries "$dir")
    program=("$(loader "$libraries")" --library-path "$libraries" "$dir/root/usr/bin/nvim")
  fi
  VIMRUNTIME="$dir/root/usr/share/nvim/runtime" "${program[@]}" --headless -u NONE -i NONE -n \
    '+lua vim.cmd((vim.fn.has("nvim-0.10") == 1 and vim.treesitter.get_string_parser("x = 1", "lua")) and "qall!" or "cquit")' </dev/null
}

ensure neovim "debian-$NEOVIM_DEBIAN"
