#!/usr/bin/env bash
# mpi_test.sh: the report made by 1 to 4 processes is the report made by one, byte for byte.
#   tests/ranks/mpi_test.sh build/check/apps/tracelens/tracelens tests/data/make_ranks.py
# Exit status 77 (skipped) where there is no mpirun or the build has no MPI.
set -euo pipefail
TRACELENS=$(realpath "$1") MAKE_RANKS=$(realpath "$2")
skip() { echo "skipped: $1"; exit 77; }
command -v mpirun >/dev/null || skip 'there is no mpirun'
[[ -f $(dirname "$TRACELENS")/libtracelens_mpi.so ]] || skip 'the program was built without MPI'
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT
trap 'echo "FAIL  line $LINENO: $BASH_COMMAND"' ERR
# A job that this test runs in is none of the processes' business.
unset TL_MODEL TL_TP TRACELENS_MAX_MEMORY "${!OMPI_@}" "${!PMI_@}" "${!PMIX_@}" "${!SLURM_@}"
export NO_COLOR=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_rmaps_base_oversubscribe=1
failures=0

expect() {  # expect RULE EXPECTED ACTUAL
  if [[ $2 == "$3" ]]; then
    printf 'ok    %s\n' "$1"
  else
    printf 'FAIL  %s\n--- expected:\n%s\n--- found:\n%s\n' "$1" "$2" "$3"
    failures=$((failures + 1))
  fi
}
sentences() { grep "^tracelens: $1" "$2" || true; }  # sentences KIND FILE
processes() {  # processes N ARGUMENTS: stdout, stderr and exit status in $n.out, $n.err, $status
  local n=$1
  shift
  status=0
  timeout 1800 mpirun --oversubscribe -n "$n" "$TRACELENS" collectives "$@" \
    >"$n.out" 2>"$n.err" || status=$?
}

python3 "$MAKE_RANKS" --out "$FOLDER/traces" --ranks 8 --nodes 2 --offset-us 0,300
printf 'no trace' >"$FOLDER/traces/rank8_trace.json"                     # foreign
: >"$FOLDER/traces/rank9_trace.json"                                     # empty
head -c 700 "$FOLDER/traces/rank7_trace.json.gz" >"$FOLDER/traces/cut.gz" # cut
mv "$FOLDER/traces/cut.gz" "$FOLDER/traces/rank7_trace.json.gz"

cd "$FOLDER"
"$TRACELENS" collectives traces -o alone/ 2>alone.err >alone.out
expect 'a file that is no trace is named in one warning' 1 \
  "$(sentences warning alone.err | grep -c rank8_trace.json)"
for n in 1 2 3 4; do
  processes $n traces -o "with$n/"
  expect "$n processes: exit status" 0 "$status"
  expect "$n processes: the same tables" '' "$(diff -r alone "with$n" 2>&1)"
  expect "$n processes: the same on stdout" "$(<alone.out)" "$(sed "s/with$n/alone/" "$n.out")"
  expect "$n processes: the same warnings" "$(sentences warning alone.err)" \
    "$(sentences warning "$n.err")"
done

# same RULE FOLDER FILE ARGUMENTS: two, three and four processes write what one writes, byte for byte.
same() {
  local rule=$1 folder=$2 file=$3 n
  shift 3
  "$TRACELENS" collectives "$folder" -o "one_$file" --quiet "$@"
  for n in 2 3 4; do
    rm -rf "many_$file"
    processes $n "$folder" -o "many_$file" --quiet "$@"
    expect "$rule, $n processes: exit status" 0 "$status"
    expect "$rule, $n processes: the same bytes" '' "$(diff -rq "one_$file" "many_$file" 2>&1)"
  done
}
# Groups that share a name, a late rank that is asked what it was doing, clocks that are apart.
python3 "$MAKE_RANKS" --out late --ranks 12 --nodes 3 --late-rank 5 --late-us 900 --offset-us 0,4000,90
same 'a late rank' late late/
same 'a late rank, as a page' late late.html
same 'a late rank, redacted' late redacted.json --redact
grep -q 'aten::mm' one_late/comm_verdict.csv || { echo 'FAIL  nobody was asked'; failures=1; }
# No numbers: lists that differ are aligned by their messages. Kernels without a word about groups.
python3 "$MAKE_RANKS" --out lost --ranks 6 --steps 4 --no-seq --drop 3:0:4 --shared-p2p
same 'a lost kernel' lost lost/
python3 "$MAKE_RANKS" --out plain --ranks 4 --plain
sed -i 's/"Process Group [A-Za-z]*": "[^"]*",//g' plain/rank*.json
same 'no groups' plain plain/
same 'fewer ranks than processes' plain/rank1_trace.json two/

# Files that hold several ranks each.
python3 "$(dirname "$MAKE_RANKS")/make_xplane.py" --out hosts --hosts 3 --gpus 2
"$TRACELENS" collectives hosts -o alone_hosts/ --quiet
processes 2 hosts -o with_hosts/ --quiet
expect 'JAX hosts: the same tables' '' "$(diff -r alone_hosts with_hosts 2>&1)"

# bad RULE ARGUMENTS: two processes say what one says, once, and end with status 2.
bad() {
  local rule=$1 alone=0
  shift
  "$TRACELENS" collectives "$@" >/dev/null 2>bad.err || alone=$?
  expect "$rule: exit status of one process" 2 "$alone"
  processes 2 "$@"
  expect "$rule: exit status" 2 "$status"
  expect "$rule: one sentence, from one process" "$(sentences error bad.err)" \
    "$(sentences error 2.err)"
}
bad 'a folder that is not there (met by all)' nowhere/
bad 'an unknown aggregate (met by the first, when the others are done)' traces --aggregates wrong
bad 'a wrong pattern (met by all before they read)' traces --collective '(=allreduce'
bad 'an output that cannot be written (met by the first, at the end)' traces -o /dev/null/x.md
cp traces/rank0_trace.json.gz copy.json.gz
bad 'an output that is an input (met by the first, at the beginning)' copy.json.gz \
  traces/rank1_trace.json.gz -o copy.json.gz

((failures == 0)) || exit 1
