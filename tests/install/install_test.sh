#!/usr/bin/env bash
# install_test.sh BUILD_DIR: installs that build into a fresh prefix, builds projects against it (a
# user's, and the programs of docs/sdk.md), runs all, and makes the Debian packages.
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
build() {  # build SOURCE FOLDER OPTION...: a project that finds the installed package
  cmake --no-warn-unused-cli -G Ninja -S "$1" -B "$2" -DCMAKE_PREFIX_PATH="$PREFIX" "${@:3}" \
    >/dev/null
  cmake --build "$2" >"$2/log" || fail "$(cat "$2/log")"
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

echo "find_package(TraceLens): the archive, and every header alone"
build "$HERE" "$SCRATCH/user"
"$SCRATCH/user/uses_tracelens"

echo "the programs of docs/sdk.md, with the shared library and no other package"
EXAMPLES=$HERE/../../examples/cpp
none=()
for package in fmt ZLIB EXPAT Protobuf Threads CLI11 simdjson GTest benchmark; do
  none+=("-DCMAKE_DISABLE_FIND_PACKAGE_$package=ON")
done
PKG_CONFIG_LIBDIR=/nonexistent build "$EXAMPLES" "$SCRATCH/shared" "${none[@]}"
has 'what walk_tree needs' "$(readelf -d "$SCRATCH/shared/walk_tree")" \
  'NEEDED.*libtracelens\.so\.0\.1\]'
echo "... and with the archive"
build "$EXAMPLES" "$SCRATCH/static" -DLIBRARY=TraceLens::tracelens
DEMO=$PREFIX/share/tracelens/demo.json.gz
for kind in shared static; do
  has "walk_tree ($kind)" "$("$SCRATCH/$kind/walk_tree" "$DEMO")" \
    '^[0-9]+ events, [1-9][0-9]* ops at the top$'
done
pushd "$SCRATCH" >/dev/null
has walk_tree "$(shared/walk_tree "$DEMO")" '^ +.+ by aten::'
has one_table "$(shared/one_table "$DEMO" gpu_timeline)" 'busy_time'
said=$(shared/single_ops "$DEMO")
has single_ops "$said" '^[1-9][0-9]* calls of aten::mm, [1-9][0-9]* distinct$'
has single_ops "$said" "TFLOP/s +event [0-9]+ +\{'M': "
has own_table "$(shared/own_table "$DEMO" own.json)" 'Kernels by the letters'
has own.json "$(<own.json)" '"name": "kernels_by_prefix"'
has arrow_out "$(shared/arrow_out "$DEMO")" '^ +[0-9.]+ us  nvjet'
said=$(shared/own_model "$DEMO")
has own_model "$said" '^33554432 FLOPs, 134217728 bytes on vector_bf16$'
has own_model "$said" '^[1-9][0-9]* distinct calls are copies$'
printf '#launches 1\nop my::gemm 0 10\nkernel gemm 5 20\nodd\n' | gzip >run.log.gz
said=$(shared/own_format run.log.gz)
has own_format "$said" "^launches, packing 'gzip', 1 warnings$"
has own_format "$said" 'my::gemm'
has 'the converted trace' "$("$PREFIX/bin/tracelens" info launches.json)" 'kernel'
mkdir job
cp "$DEMO" job/rank0.json.gz
cp "$DEMO" job/rank1.json.gz
said=$(shared/ranks job)
has ranks "$said" '1 .* usable'
has ranks "$said" '^[1-9][0-9]* tables about the ranks together$'
said=$(shared/walk_tree nowhere.json 2>&1) && fail "expected no trace to be an error, found: $said"
has 'the error' "$said" '^nowhere.json: '
popd >/dev/null

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
for package in tracelens libtracelens0.1; do  # loaded when it is needed, so that no packager sees it
  has "what $package depends on" "$(field $package Depends)" 'libzip[0-9]'
done
has libtracelens-dev "$(contents libtracelens-dev)" 'TraceLensConfig.cmake$'
for file in tracelens/table.hpp tracelens/tracelens.hpp tracelens/version.hpp; do
  has libtracelens-dev "$(contents libtracelens-dev)" " ./usr/include/$file$"
done
has libtracelens-dev "$(contents libtracelens-dev)" 'libtracelens.a$'
has libtracelens0.1 "$(contents libtracelens0.1)" 'libtracelens.so.0.1 -> libtracelens.so.0.1.0$'
if [[ -n $module ]]; then
  has tracelens-mpi "$(contents tracelens-mpi)" " ./usr/${module#"$PREFIX"/}$"
  has 'what tracelens-mpi depends on' "$(field tracelens-mpi Depends)" 'libopenmpi.*'
  has 'what tracelens-mpi depends on' "$(field tracelens-mpi Depends)" \
    "tracelens \(= $(field tracelens Version)\)"
  grep -q libtracelens_mpi.so <<<"$runtime" && fail 'tracelens holds the module of tracelens-mpi'
fi
echo "fine"
