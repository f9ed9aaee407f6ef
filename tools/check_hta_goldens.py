#!/usr/bin/env python3
"""Compares the tables of what the host asked of the GPU with those of Holistic Trace Analysis.

    tools/check_hta_goldens.py build/check/apps/tracelens/tracelens ../shared

Every trace in golden/hta: launch statistics row by row (its four calls), queue lengths, copy bandwidths,
idle time per stream, and idle and total time. Also the idle times by what the host did that the
specification lists for six traces. Numbers are equal when they differ by less than 1e-6 of them, or as
far as a table was rounded.
"""
import csv
import pathlib
import subprocess
import sys
import tempfile

from clean_environment import clean_environment

TABLES = ("launch_stats", "queue_length", "queue_length_series", "queue_blocked", "copy_bandwidth_levels",
          "copy_bandwidth_series", "gpu_gaps_by_stream", "gpu_timeline", "gpu_gap_summary")
# Of several marked steps HTA leaves out GPU events whose launch it did not keep; of one step none.
SEVERAL_STEPS = ("mi300_resnet_recompute",)
# What it counts in another way: sync events of the GPU as busy time; hipModuleLaunchKernel and
# hipExtLaunchKernel not as launches; of one step, gaps before work without a launch as waits for the
# first event of the trace, of several the time of such work as a gap.
OTHERWISE = {"hta_alexnet": ("idle time", "total time"),
             "hta_cuda_event_sync": ("idle time",),
             "hta_cuda_event_sync_multi_stream": ("idle time",),
             "mi300_qwen": ("queue_length", "gpu_gaps_by_stream"),
             "mi300_resnet_recompute": ("gpu_gaps_by_stream",),
             "h100_qwen": ("gpu_gaps_by_stream",)}
CALLS = ("cudaLaunchKernel", "cudaLaunchKernelExC", "cudaMemcpyAsync", "cudaMemsetAsync")
SPREAD = ("count", "mean", "std", "min", "25%", "50%", "75%", "max")
GAPS = {  # ms by part, and how many gaps were drained
    "h100_owlv2": {"dataloader": 491.158, "device": 6.784, "python": 5.281, "op": 3.950, "sync": 2.166,
                   "launch_call": 1.968, "runtime_other": 0.133, "launch_latency": 0.087,
                   "launch": 0.002, "total": 511.529, "drained": 499.559, "drained gaps": 79},
    "h200_gpt_train_amp": {"op": 42.044, "python": 18.923, "launch_call": 15.940, "none": 4.964,
                           "launch_latency": 2.931, "device": 1.149, "runtime_other": 0.104,
                           "launch": 0.026, "total": 86.081, "drained gaps": 0},
    "h200_gpt_train_compiled": {"op": 65.910, "python": 10.327, "launch_call": 6.786,
                                "launch_latency": 0.824, "none": 0.638, "device": 0.509,
                                "total": 85.086, "drained gaps": 0},
    "h100_qwen": {"device": 1.777, "none": 0.728, "python": 0.717, "op": 0.572, "launch_call": 0.152,
                  "launch_latency": 0.036, "total": 4.006, "drained": 0.439, "drained gaps": 2},
    "mi300_bert": {"op": 1.189, "python": 0.808, "launch_latency": 0.752, "launch_call": 0.211,
                   "device": 0.109, "total": 3.105, "drained": 0.215, "drained gaps": 1},
    "normalization": {"launch_call": 979.467, "op": 72.877, "python": 8.049, "runtime_other": 3.247,
                      "none": 2.622, "total": 1067.761, "drained gaps": 0},
}


def read(path):
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def is_close(ours, theirs, rounded=0.0):
    if ours in ("", None) or theirs in ("", None):
        return (ours or "") == (theirs or "")
    a, b = float(ours), float(theirs)
    return abs(a - b) <= 1e-6 + rounded + 1e-6 * max(abs(a), abs(b))


class Case:
    """Counts the cells of one trace that are equal, and tells of the first that are not."""

    def __init__(self, name):
        self.name, self.cells, self.wrong, self.otherwise, self.told = name, 0, 0, 0, []

    def check(self, what, ours, theirs, rounded=0.0):
        self.cells += 1
        if what.startswith(OTHERWISE.get(self.name, "\0")):
            self.otherwise += not is_close(ours, theirs, rounded)
        elif not is_close(ours, theirs, rounded):
            self.wrong += 1
            self.told.append(f"{what}: {ours!r}, there {theirs!r}")

    def rows(self, what, ours, theirs, columns, rounded=0.0):
        self.check(f"{what}: rows", len(ours), len(theirs))
        for number, (a, b) in enumerate(zip(ours, theirs)):
            for mine, other in columns:
                self.check(f"{what} row {number} {other}", a[mine], b[other], rounded)

    def result(self):
        equal = self.cells - self.wrong - self.otherwise
        print(f"{self.name:34} {equal:7} of {self.cells:7} cells equal"
              + (f", {self.otherwise} are known to differ" if self.otherwise else ""))
        for line in self.told[:6]:
            print(f"    {line}")
        return self.wrong == 0


def same(*names):
    return [(name, name) for name in names]


def from_zero(rows, column="ts"):
    first = min((float(row[column]) for row in rows), default=0)
    return [dict(row, **{column: float(row[column]) - first}) for row in rows]


def check_trace(case, ours, golden):
    launches = [row for row in read(ours / "launch_stats.csv") if row["call"] in CALLS]
    if (golden / "cuda_kernel_launch_stats.csv").is_file():
        case.rows("launch_stats", launches, read(golden / "cuda_kernel_launch_stats.csv"),
                  same("correlation", "cpu_duration", "gpu_duration", "launch_delay"))
    theirs = read(golden / "queue_length_summary.csv")
    streams = {row["stream"] for row in theirs}
    case.rows("queue_length",
              [row for row in read(ours / "queue_length.csv") if row["stream"] in streams], theirs,
              same("stream", *SPREAD))
    series = golden / "queue_length_time_series.csv"
    if series.is_file():
        by_stream = lambda row: (int(row["stream"]), float(row["ts"]))
        theirs = sorted(from_zero(read(series)), key=by_stream)
        mine = sorted(from_zero(read(ours / "queue_length_series.csv")), key=by_stream)
        case.rows("queue_length_series", mine, theirs, same("ts", "stream", "queue_length"))
    levels = {row["kind"]: row for row in read(ours / "copy_bandwidth_levels.csv")}
    for row in read(golden / "memory_bw_summary.csv"):
        for column in SPREAD:
            case.check(f"copy_bandwidth_levels {row['name']} {column}",
                       levels.get(row["name"], {}).get(column), row[column])
    series = golden / "memory_bw_time_series.csv"
    if series.is_file():
        by_kind = lambda row: (row.get("name") or row.get("kind"), float(row["ts"]))
        case.rows("copy_bandwidth_series",
                  sorted(from_zero(read(ours / "copy_bandwidth_series.csv")), key=by_kind),
                  sorted(from_zero(read(series)), key=by_kind), [("ts", "ts"), ("GB/s", "memory_bw_gbps")])
    # Rounded to two decimals there.
    streams = {(row["stream"], row["idle_category"]): row for row in read(ours / "gpu_gaps_by_stream.csv")}
    for row in read(golden / "idle_time_breakdown.csv"):
        mine = streams.get((row["stream"], row["idle_category"]), {"idle_time": 0, "idle_time_ratio": 0})
        for column in ("idle_time", "idle_time_ratio"):
            case.check(f"gpu_gaps_by_stream {row['stream']} {row['idle_category']} {column}",
                       mine[column], row[column], 0.005)
    for row in read(golden / "idle_interval_stats.csv"):
        mine = streams.get((row["stream"], row["idle_category"]), {"count": 0})
        for column in SPREAD:
            case.check(f"gpu_gaps_by_stream {row['stream']} {row['idle_category']} {column}",
                       mine.get(column, ""), row[column], 0.005)
    times = {row["type"]: float(row["time ms"]) * 1e3 for row in read(ours / "gpu_timeline.csv")}
    for row in read(golden / "temporal_breakdown.csv"):
        case.check("idle time", times["idle_time"], row["idle_time(us)"])
        case.check("total time", times["total_time"], row["kernel_time(us)"])
    full = read(golden / "time_blocked_on_full_queue_1024.csv")
    blocked = {row["stream"]: row for row in read(ours / "queue_blocked.csv")}
    for row in full:
        mine = blocked[row["stream"]]
        case.check("time at 1024", float(mine["time_at_limit_ms"]) * 1e3, row["duration_at_max_queue_length"])


def check_gaps(case, ours, figures):
    rows = {row["part"]: row for row in read(ours / "gpu_gap_summary.csv")}
    for part, figure in figures.items():
        if part == "drained gaps":
            case.check(part, rows["drained"]["gaps"], figure)
        else:
            case.check(f"gpu_gap_summary {part}", rows.get(part, {}).get("idle_ms", 0), figure, 0.0005)


def main():
    clean_environment()
    program, shared = sys.argv[1], pathlib.Path(sys.argv[2])
    traces = {}
    for folder in (shared / "traces" / "pytorch", shared / "golden" / "hta" / "inputs"):
        for trace in folder.glob("*.json.gz"):
            traces[trace.name.removesuffix(".json.gz")] = trace
    failed = 0
    for name, trace in sorted(traces.items()):
        golden = shared / "golden" / "hta" / name
        if not golden.is_dir() and name not in GAPS:
            continue
        case = Case(name)
        with tempfile.TemporaryDirectory() as folder:
            flags = ["--link-by-correlation"] if name in SEVERAL_STEPS else ["--include-unlinked"]
            subprocess.run([program, "report", trace, *flags, "--tables", ",".join(TABLES), "-o",
                            folder + "/"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if golden.is_dir():
                check_trace(case, pathlib.Path(folder), golden)
            if name in GAPS:
                check_gaps(case, pathlib.Path(folder), GAPS[name])
        failed += not case.result()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
