#!/usr/bin/env bash
# install_test.sh BUILD_DIR: installs that build into a fresh prefix, builds a project against it,
# runs both, and makes the Debian packages.
set -euo pipefail
BUILD=$(readlink -f "$1")
HERE=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
SCRATCH=$(mktemp -d)
trap 'rm -rf "$SCRATCH"' EXIT
trap 'echo "FAIL  line $LINENO: $BASH_COMMAND"' ERR
PREFIX=$SCRATCH/prefix

fail() { echo "FAIL  $1"; exit 1; }
has() {  # has WHAT TEXT PATTERN
  grep -qE "$3" <<<"$2" || fail "$1: expected something like '$3', found:"$'\n'"$2"
}
contents() { dpkg-deb --contents "$SCRATCH"/deb/"$1"_*.deb; }        # contents PACKAGE
field() { dpkg-deb --field "$SCRATCH"/deb/"$1"_*.deb "$2"; }         # field PACKAGE NAME

echo "install"
DESTDIR='' cmake --install "$BUILD" --prefix "$PREFIX" >/dev/null
"$PREFIX/bin/tracelens" --version
"$PREFIX/bin/tracelens" report "$PREFIX/share/tracelens/demo.json.gz" -o "$SCRATCH/tables/" --quiet
[[ -s $SCRATCH/tables/gpu_timeline.csv ]] ||
  fail "expected a table gpu_timeline.csv, found: $(ls "$SCRATCH/tables")"

module=$(find "$PREFIX" -name libtracelens_mpi.so)
if [[ -z $module ]]; then
  echo "no MPI: this build has no module; not checked"
elif ! command -v mpirun >/dev/null; then
  echo "no MPI: there is no mpirun; not checked that the module is found"
else
  echo "MPI"
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  python3 "$HERE/../data/make_ranks.py" --out "$SCRATCH/traces" --ranks 2
  said=$(cd "$SCRATCH" && mpirun --oversubscribe -n 2 "$PREFIX/bin/tracelens" collectives traces \
    -o together/ 2>&1 >/dev/null) || fail "two processes of the installed program said: $said"
  [[ $(grep -c 'wrote .* tables to together/' <<<"$said") == 1 ]] ||
    fail "expected two processes to write one report, found: $said"
fi

echo "find_package(TraceLens)"
cmake -G Ninja -S "$HERE" -B "$SCRATCH/user" -DCMAKE_PREFIX_PATH="$PREFIX" >/dev/null
cmake --build "$SCRATCH/user"
"$SCRATCH/user/uses_tracelens"

echo "Debian packages"
(cd "$SCRATCH" && cpack --config "$BUILD/CPackConfig.cmake" -B "$SCRATCH/deb" >/dev/null)
for package in "$SCRATCH"/deb/*.deb; do
  dpkg-deb --field "$package" Package Version Section Depends
done
runtime=$(contents tracelens)
for file in bin/tracelens share/tracelens/demo.json.gz share/doc/tracelens/copyright \
  share/bash-completion/completions/tracelens share/zsh/vendor-completions/_tracelens; do
  has tracelens "$runtime" " ./usr/$file$"
done
has 'what tracelens depends on' "$(field tracelens Depends)" 'libc6.*libisal'
has libtracelens-dev "$(contents libtracelens-dev)" 'TraceLensConfig.cmake$'
has libtracelens-dev "$(contents libtracelens-dev)" ' ./usr/include/tracelens/table.hpp$'
if [[ -n $module ]]; then
  has tracelens-mpi "$(contents tracelens-mpi)" " ./usr/${module#"$PREFIX"/}$"
  has 'what tracelens-mpi depends on' "$(field tracelens-mpi Depends)" 'libopenmpi.*'
  has 'what tracelens-mpi depends on' "$(field tracelens-mpi Depends)" \
    "tracelens \(= $(field tracelens Version)\)"
  grep -q libtracelens_mpi.so <<<"$runtime" && fail 'tracelens holds the module of tracelens-mpi'
fi
echo "fine"
