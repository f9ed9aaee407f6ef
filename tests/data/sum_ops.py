#!/usr/bin/env python3
"""Says "same" when the GPU times of the ops of a trace are the sums of those of its parts.

    tests/data/sum_ops.py TRACE PARTS

PARTS is the folder of `tracelens split`; the program must be on PATH. Reports go to the current folder.
"""
import collections
import csv
import pathlib
import subprocess
import sys


def op_times(trace, out):
    """Nanoseconds by op, from a report on the trace."""
    subprocess.run(["tracelens", "report", trace, "-o", f"{out}/", "--quiet"], check=True)
    times = collections.Counter()
    with open(f"{out}/ops_summary.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            times[row["name"]] += round(1e6 * float(row["total_direct_kernel_time_ms"]))
    return times


def main():
    whole = op_times(sys.argv[1], "whole")
    parts = collections.Counter()
    for part in sorted(pathlib.Path(sys.argv[2]).glob("*.json.gz")):
        parts += op_times(str(part), f"report_{part.stem}")
    print("same" if whole and parts == whole else f"different: {whole} and {parts}")


if __name__ == "__main__":
    main()
