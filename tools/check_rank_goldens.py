#!/usr/bin/env python3
"""Compares the reports of many ranks with tables and traces made by the Python TraceLens.

    tools/check_rank_goldens.py build/check/apps/tracelens/tracelens ../shared

Takes shared/golden/multirank8: every variant, the tiny cases of micro_cases.json, the runs on which
the Python program stops (there the injected truth must be found), and the fused traces. One line
per case; exit status 1 when a case falls short.
"""
import csv
import gzip
import io
import json
import pathlib
import subprocess
import sys
import tempfile

from clean_environment import clean_environment

SCRIPT = "TraceLens_generate_multi_rank_collective_report_pytorch"
VARIANTS = {name: (name, ["--all2allv_heatmap"])
            for name in ("full", "partial_meta", "ragged", "simplified", "custom_ar", "list_meta")}
VARIANTS["full_gpn4_mean_std"] = ("full", ["--gpus_per_node", "4", "--agg_metrics", "mean", "std"])
EMPTY = ("", "None", "nan")


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def same(ours, golden):
    if ours == golden or (ours in EMPTY and golden in EMPTY):
        return True
    a, b = number(ours), number(golden)
    return a is not None and b is not None and abs(a - b) <= 1e-9 + 1e-6 * max(abs(a), abs(b))


def rows_of(text):
    return [row for row in csv.reader(io.StringIO(text)) if any(row)]


def run(program, *arguments):
    return subprocess.run([str(program), "compat", SCRIPT, *map(str, arguments)],
                          capture_output=True, text=True)


def check_variant(program, shared, name, out):
    traces, flags = VARIANTS[name]
    done = run(program, "--trace_pattern", shared / "traces/multirank8" / traces /
               "rank*_trace.json.gz", "--world_size", 8, "--output_csvs_dir", out, *flags)
    if done.returncode != 0:
        return f"exit status {done.returncode}: {done.stderr.strip()}"
    compared = subprocess.run([sys.executable, shared / "tools/compare_golden.py", out,
                               shared / "golden/multirank8" / name], capture_output=True, text=True)
    last = compared.stdout.strip().splitlines()[-1]
    print(f"      {last}")
    return "" if compared.returncode == 0 else "below 99.9% of the cells"


def flags_of(options):
    flags = []
    for key, value in options.items():
        flags.append(f"--{key}")
        if isinstance(value, list):
            flags += value
        elif value is not True:
            flags.append(str(value))
    return flags


def check_micro(program, case, folder):
    for rank, events in enumerate(case["events_per_rank"]):
        (folder / f"rank{rank}_trace.json").write_text(
            json.dumps({**case["top_level"], "traceEvents": events}))
    done = run(program, "--trace_dir", folder, "--world_size", len(case["events_per_rank"]),
               "--output_csvs_dir", folder / "out", *flags_of(case["options"]))
    if "reference_error" in case:  # we go on, with a report or one clear sentence
        return "" if done.returncode in (0, 2) else f"exit status {done.returncode}"
    if done.returncode != 0:
        return f"exit status {done.returncode}: {done.stderr.strip()}"
    for sheet, text in case["sheets"].items():
        ours = rows_of((folder / "out" / f"{sheet}.csv").read_text())
        golden = rows_of(text)
        if [len(row) for row in ours] != [len(row) for row in golden]:
            return f"{sheet}: another shape"
        for ours_row, golden_row in zip(ours, golden):
            for a, b in zip(ours_row, golden_row):
                if not same(a, b):
                    return f"{sheet}: '{a}' instead of '{b}'"
    written = {path.stem for path in (folder / "out").glob("*.csv")}
    return "" if written == set(case["sheets"]) else f"sheets {sorted(written ^ set(case['sheets']))}"


def check_truth(program, shared, variant, out):
    """Every injected synchronizing collective is found with its latency, skew and last rank."""
    folder = shared / "traces/multirank8" / variant
    done = subprocess.run([str(program), "collectives", str(folder), "-o", f"{out}/", "--quiet"],
                          capture_output=True, text=True)
    if done.returncode != 0:
        return f"exit status {done.returncode}: {done.stderr.strip()}"
    with open(out / "nccl_implicit_sync.csv", encoding="utf-8", newline="") as file:
        found = {}
        for row in csv.DictReader(file):
            start = min(float(row[f"rank_{r}_ts"]) for r in range(8) if row[f"rank_{r}_ts"])
            found[(row["Collective name"], round(start, 3))] = row
    missing = 0
    names = {"_allgather_base", "allreduce", "all_to_all", "reduce_scatter", "_reduce_scatter_base",
             "allreduce_coalesced", "allgather_into_tensor_coalesced",
             "reduce_scatter_tensor_coalesced"}
    truth = json.loads((folder / "truth.json").read_text())["collectives"]
    wanted = [c for c in truth if c["name"] in names]
    for collective in wanted:
        row = found.get((collective["name"], round(min(map(float, collective["start_us"])), 3)))
        good = row and same(row["comm_latency"], str(collective["comm_latency_us"])) and \
            same(row["skew in start time"], str(collective["skew_in_start_us"])) and \
            same(row["bus bw (GB/s)"], str(collective["bus_bw_GiBps"])) and \
            int(row["earliest arrival rank"]) == collective["first_rank"]
        missing += not good
    extra = len(found) - len(wanted)
    return f"{missing} of {len(wanted)} collectives not found, {extra} made up" if missing or extra else ""


def check_fusion(program, shared, name, flags, out):
    golden = json.loads(gzip.open(shared / "golden/multirank8/fusion" / f"{name}.json.gz").read())
    traces = shared / "traces/multirank8/full/rank*_trace.json.gz"
    done = subprocess.run([str(program), "fuse", str(traces), "-o", str(out / "fused.json.gz"),
                           "--quiet", *flags], capture_output=True, text=True)
    if done.returncode != 0:
        return f"exit status {done.returncode}: {done.stderr.strip()}"
    fused = json.loads(gzip.open(out / "fused.json.gz").read())
    ours, theirs = fused["traceEvents"], golden["traceEvents"]
    if "--only" in flags:  # ours keeps the names of threads, the Python program's filter does not
        ours = [event for event in ours if event["ph"] != "M" or event["name"].startswith("process_")]
    if len(ours) != len(theirs):
        return f"{len(ours)} events instead of {len(theirs)}"
    wrong = [i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b]
    return f"{len(wrong)} events differ, first {wrong[0]}" if wrong else ""


def main():
    clean_environment()
    program, shared = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    failed = 0

    def report(name, check):
        nonlocal failed
        with tempfile.TemporaryDirectory() as folder:
            problem = check(pathlib.Path(folder))
        failed += bool(problem)
        print(f"{'FAIL' if problem else 'ok'}    {name}{': ' + problem if problem else ''}")

    for name in VARIANTS:
        report(name, lambda out, name=name: check_variant(program, shared, name, out))
    for case in json.loads((shared / "golden/multirank8/micro_cases.json").read_text())["cases"]:
        report(case["name"], lambda out, case=case: check_micro(program, case, out))
    for variant in ("full", "shared_p2p", "same_names"):
        report(f"{variant}, truth", lambda out, v=variant: check_truth(program, shared, v, out))
    for name, flags in {"ranks_0_5": ["--ranks", "0,5"],
                        "ranks_0_5_pyfunc": ["--ranks", "0,5", "--python"],
                        "all_nccl_only": ["--only", "nccl"]}.items():
        report(f"fusion {name}", lambda out, n=name, f=flags: check_fusion(program, shared, n, f, out))
    print(f"{failed} cases fall short")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
