#!/usr/bin/env bash
# mpi_test.sh: the report made by 1, 2 and 4 processes is the report made by one, byte for byte.
#   tests/ranks/mpi_test.sh build/check/apps/tracelens/tracelens tests/data/make_ranks.py
# Exit status 77 (skipped) where there is no mpirun or the build has no MPI.
set -euo pipefail
TRACELENS=$(realpath "$1") MAKE_RANKS=$2
command -v mpirun >/dev/null || exit 77
[[ -f $(dirname "$TRACELENS")/libtracelens_mpi.so ]] || exit 77
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT
export NO_COLOR=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_rmaps_base_oversubscribe=1

python3 "$MAKE_RANKS" --out "$FOLDER/traces" --ranks 8 --nodes 2 --offset-us 0,300
printf 'no trace' >"$FOLDER/traces/rank8_trace.json"                     # foreign
: >"$FOLDER/traces/rank9_trace.json"                                     # empty
head -c 700 "$FOLDER/traces/rank7_trace.json.gz" >"$FOLDER/traces/cut.gz" # cut
mv "$FOLDER/traces/cut.gz" "$FOLDER/traces/rank7_trace.json.gz"

cd "$FOLDER"
"$TRACELENS" collectives traces -o alone/ 2>alone.err >alone.out
grep -q 'rank8_trace.json' alone.err
for n in 1 2 4; do
  mpirun --oversubscribe -n $n "$TRACELENS" collectives traces -o "with$n/" 2>"with$n.err" >"with$n.out"
  diff -r alone "with$n"
  diff <(sed "s/with$n/alone/" "with$n.out") alone.out
  diff <(grep '^tracelens: warning' "with$n.err") <(grep '^tracelens: warning' alone.err)
done

# Bad input is one sentence, from one process.
if mpirun --oversubscribe -n 2 "$TRACELENS" collectives nowhere/ 2>bad.err; then exit 1; fi
[[ $(grep -c '^tracelens: error' bad.err) == 1 ]]
