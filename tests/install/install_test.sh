#!/usr/bin/env bash
# install_test.sh BUILD_DIR: installs that build into a fresh prefix, builds a project against it,
# runs both, and makes the Debian packages.
set -euo pipefail
BUILD=$(readlink -f "$1")
HERE=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
SCRATCH=$(mktemp -d)
trap 'rm -rf "$SCRATCH"' EXIT

has() {  # has LISTING PATTERN
  grep -qE "$2" <<<"$1" || { echo "missing in the package: $2"; return 1; }
}

echo "install"
DESTDIR='' cmake --install "$BUILD" --prefix "$SCRATCH/prefix" >/dev/null
"$SCRATCH/prefix/bin/tracelens" --version
"$SCRATCH/prefix/bin/tracelens" report "$SCRATCH/prefix/share/tracelens/demo.json.gz" \
  -o "$SCRATCH/tables/" --quiet
test -s "$SCRATCH/tables/gpu_timeline.csv"

echo "find_package(TraceLens)"
cmake -G Ninja -S "$HERE" -B "$SCRATCH/user" -DCMAKE_PREFIX_PATH="$SCRATCH/prefix" >/dev/null
cmake --build "$SCRATCH/user"
"$SCRATCH/user/uses_tracelens"

echo "Debian packages"
(cd "$SCRATCH" && cpack --config "$BUILD/CPackConfig.cmake" -B "$SCRATCH/deb" >/dev/null)
runtime=$(dpkg-deb --contents "$SCRATCH"/deb/tracelens_*.deb)
has "$runtime" ' ./usr/bin/tracelens$'
has "$runtime" ' ./usr/share/tracelens/demo.json.gz$'
has "$runtime" ' ./usr/share/doc/tracelens/copyright$'
has "$runtime" ' ./usr/share/bash-completion/completions/tracelens$'
has "$runtime" ' ./usr/share/zsh/vendor-completions/_tracelens$'
dev=$(dpkg-deb --contents "$SCRATCH"/deb/libtracelens-dev_*.deb)
has "$dev" 'TraceLensConfig.cmake$'
has "$dev" ' ./usr/include/tracelens/table.hpp$'
for package in "$SCRATCH"/deb/*.deb; do
  dpkg-deb --field "$package" Package Version Section Depends
done
has "$(dpkg-deb --field "$SCRATCH"/deb/tracelens_*.deb Depends)" 'libc6.*libisal'
