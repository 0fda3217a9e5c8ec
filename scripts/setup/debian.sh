# Sourced by parts that are packages of a newer Debian, unpacked into a folder with their own C library: nothing is
# installed, and no rights are needed.

# unpack DIR RELEASE PACKAGE…: into DIR/root.
unpack() {
  local dir=$1 release=$2 apt=$1/apt from
  shift 2
  from=$(mirror) || die "apt knows no Debian mirror"
  mkdir -p "$apt"/{state/lists/partial,cache/archives/partial,packages} "$dir"/{root,bin} &&
    : >"$apt/status" &&
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $from $release main" >"$apt/sources.list" &&
    private_apt "$apt" update &&
    (cd "$apt/packages" && private_apt "$apt" download "$@") &&
    for package in "$apt"/packages/*.deb; do dpkg -x "$package" "$dir/root" || return; done &&
    rm -rf "$apt"
}

# The mirror that this machine takes its own Debian from.
mirror() {
  local own
  own=$(. /etc/os-release && echo "$VERSION_CODENAME")
  apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(SITE)' 'Created-By: Packages' |
    awk -v own="$own" '$1 == own && $2 == "main" { print $3; found = 1; exit } END { exit !found }'
}

private_apt() {
  local apt=$1
  shift
  apt-get -o "Dir::State=$apt/state" -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt/cache" \
    -o "Dir::Etc::SourceList=$apt/sources.list" -o Dir::Etc::SourceParts=- -o Dir::Etc::PreferencesParts=- \
    -o "APT::Sandbox::User=$(id -un)" "$@"
}

# settle DIR PROGRAM: makes the program find its own libraries. The loader is named by its full path, which holds from the
# moment that the part stands in its place; a script that calls the loader will not do for what starts itself by its name.
settle() {
  local dir=$1 program=$2 place=${1%.making.*} libraries
  libraries=$(libraries "$dir")
  patchelf --force-rpath --set-rpath "$place${libraries#"$dir"}" \
    --set-interpreter "$place$(loader "$libraries" | sed "s|^$dir||")" "$dir/root/$program" &&
    ln -s "../root/$program" "$dir/bin/$(basename "$program")"
}

# in_place DIR PROGRAM ARGUMENT…: runs it, also while the part is being made.
in_place() {
  local dir=$1 program=$2 libraries
  shift 2
  if [[ $dir != *.making.* ]]; then
    "$dir/root/$program" "$@"
    return
  fi
  libraries=$(libraries "$dir")
  "$(loader "$libraries")" --library-path "$libraries" "$dir/root/$program" "$@"
}

libraries() {
  dirname "$1"/root/usr/lib/*/libc.so.6
}

loader() {
  echo "$1"/ld-linux*.so.*
}
