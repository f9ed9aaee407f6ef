#!/usr/bin/env bash
# wrapper_test.sh: the rules of ./tracelens, on a scratch checkout with a stand-in for cmake, dpkg
# and the program, so that nothing is installed or built.
set -euo pipefail
SOURCE=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../..
SCRATCH=$(mktemp -d)
trap 'rm -rf "$SCRATCH"' EXIT
CHECKOUT="$SCRATCH/check out"  # a path with a space
TOOLS=$SCRATCH/tools
failures=0

expect() {  # expect RULE EXPECTED ACTUAL
  if [[ $2 == "$3" ]]; then
    printf 'ok    %s\n' "$1"
  else
    printf 'FAIL  %s\n      expected: %s\n      found:    %s\n' "$1" "$2" "$3"
    failures=$((failures + 1))
  fi
}

stand_in() {  # stand_in FILE: a program made from stdin
  mkdir -p "$(dirname "$1")"
  { printf '#!/usr/bin/env bash\n'; cat; } >"$1"
  chmod +x "$1"
}

mkdir -p "$CHECKOUT"/{apps,cmake,data,include,src,tools} "$TOOLS"
cp "$SOURCE/tracelens" "$CHECKOUT/"
cp "$SOURCE"/tools/{bootstrap.sh,debian-packages.txt} "$CHECKOUT/tools/"
touch "$CHECKOUT"/{CMakeLists.txt,CMakePresets.json}
stand_in "$TOOLS/dpkg-query" <<<'echo installed'
stand_in "$TOOLS/cmake" <<EOF2
echo run >>"$SCRATCH/cmake.log"
[[ \$1 == --build ]] || exit 0
mkdir -p "\$2/apps/tracelens"
printf '#!/usr/bin/env bash\necho "ran \$*"; exit 7\n' >"\$2/apps/tracelens/tracelens"
chmod +x "\$2/apps/tracelens/tracelens"
EOF2
export PATH=$TOOLS:$PATH
cmake_runs() { [[ -f $SCRATCH/cmake.log ]] && wc -l <"$SCRATCH/cmake.log" || echo 0; }
run() {  # run ARGUMENTS: stdout in $out, stderr in $err, exit status in $status
  status=0
  out=$("${WRAPPER:-$CHECKOUT/tracelens}" "$@" 2>"$SCRATCH/stderr") || status=$?
  err=$(<"$SCRATCH/stderr")
}

cd /
run report 'a file.json' --flag
expect 'the first run configures, builds and runs' '2 ran report a file.json --flag' \
  "$(cmake_runs) $out"
expect 'the exit status is that of the program' 7 "$status"

run info
expect 'the second run builds nothing and is silent' '2||ran info' "$(cmake_runs)|$err|$out"

ln -s "$CHECKOUT/tracelens" "$SCRATCH/link"
WRAPPER=$SCRATCH/link run info
expect 'a link to the wrapper finds the checkout' 'ran info' "$out"

sleep 0.01
touch "$CHECKOUT/src/new.cpp"
run info
expect 'a changed source builds again' 4 "$(cmake_runs)"
run info
expect 'and only once' 4 "$(cmake_runs)"
sleep 0.01
rm "$CHECKOUT/src/new.cpp"
run info
expect 'a removed source builds again' 6 "$(cmake_runs)"

touch -d '+1 day' "$CHECKOUT/src/tomorrow.cpp"
run info
run info
expect 'a source with a time in the future builds once' 8 "$(cmake_runs)"

cp "$TOOLS/cmake" "$SCRATCH/cmake.kept"
stand_in "$TOOLS/cmake" <<<'cat >/dev/null; source "'"$SCRATCH/cmake.kept"'"'
stand_in "$CHECKOUT/src/reads.cpp" <<<''
out=$(echo 'a trace' | { "$CHECKOUT/tracelens" info >/dev/null || true; cat; } 2>/dev/null)
expect 'the build leaves standard input to the program' 'a trace' "$out"

stand_in "$TOOLS/cmake" <<<'echo broken; exit 1'
touch "$CHECKOUT/src/other.cpp"
run info
expect 'a failed build runs nothing, and says why' '2||1' \
  "$status|$out|$(grep -c '^broken$' <<<"$err")"

stand_in "$TOOLS/dpkg-query" <<<'exit 1'
stand_in "$TOOLS/apt-get" <<<'echo "$@" >>"'"$SCRATCH"'/apt.log"; exit 0'
stand_in "$TOOLS/sudo" <<<'[[ $1 == -n ]] && shift; exec "$@"'
run info
expect 'missing packages are installed, all in one go' 1 \
  "$(grep -c 'install .*cmake.*zlib1g-dev' "$SCRATCH/apt.log")"
expect 'they are named, and how to say no' '1 1' \
  "$(grep -c 'installing .*zlib1g-dev' <<<"$err") $(grep -c 'TRACELENS_INSTALL=no' <<<"$err")"
: >"$SCRATCH/apt.log"
TRACELENS_INSTALL=no run info
expect 'none are when the answer is no, and the build is tried' '0 1' \
  "$(wc -l <"$SCRATCH/apt.log") $(grep -c '^broken$' <<<"$err")"
stand_in "$TOOLS/apt-get" <<<'cat >>"'"$SCRATCH"'/stdin.log"'
echo 'a trace' | run info
expect 'apt-get does not read standard input' '' "$(<"$SCRATCH/stdin.log")"

((failures == 0)) || exit 1
