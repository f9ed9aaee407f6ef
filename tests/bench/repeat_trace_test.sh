#!/usr/bin/env bash
# repeat_trace_test.sh REPEAT_TRACE: one copy is the trace itself; more copies share no id or time.
set -euo pipefail
REPEAT=$1
DATA=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../data
OUT=$(mktemp -d)
trap 'rm -rf "$OUT"' EXIT
trap 'echo "FAIL  line $LINENO: $BASH_COMMAND"' ERR

for trace in "$DATA"/h200_*.json.gz; do
  "$REPEAT" "$trace" "$OUT/one.json" --copies 1 >/dev/null
  cmp <(gzip -dc "$trace") "$OUT/one.json" ||
    { echo "FAIL  expected one copy of $trace to be the trace itself"; exit 1; }
done

"$REPEAT" "$DATA/h200_ops_zoo.json.gz" "$OUT/three.json.gz" --copies 3 >/dev/null
python3 - "$DATA/h200_ops_zoo.json.gz" "$OUT/three.json.gz" <<'END'
import gzip, json, sys
one, three = (json.load(gzip.open(path))["traceEvents"] for path in sys.argv[1:])
timed = [event for event in one if event["ph"] != "M"]
assert len(three) == len(one) + 2 * len(timed), \
    f"metadata must not be repeated: expected {len(one) + 2 * len(timed)} events, found {len(three)}"
second = three[len(one):len(one) + len(timed)]
end = max(event["ts"] + event.get("dur", 0) for event in timed)
begin = min(event["ts"] for event in second)
assert begin > end, f"copies must not overlap: expected one after {end}, found one at {begin}"

def correlations(events):
    return {e["args"]["correlation"] for e in events if "correlation" in e.get("args", {})}

assert correlations(one) and not correlations(one) & correlations(second), "ids must be unique"
assert [e["name"] for e in second if e.get("cat") == "kernel"] == \
       [e["name"] for e in timed if e.get("cat") == "kernel"], "names must be kept"
END
