#!/usr/bin/env python3
"""Whether two reports (folders of CSV files) are of the same ops, calls and kernels, in times within noise.

    tests/cli/same_ops.py stitched/ eager/
"""
import csv
import sys


def rows(folder, table, keys, value):
    with open(f"{folder}/{table}.csv", newline="", encoding="utf-8") as file:
        return {tuple(row[key] for key in keys): float(row[value]) for row in csv.DictReader(file)}


def compare(folders, table, keys, count, time):
    """The number of rows; fails unless both have the same, as often, for as long."""
    first, second = (rows(folder, table, keys, count) for folder in folders)
    if first != second:
        sys.exit(f"{table} differs: {sorted(set(first.items()) ^ set(second.items()))}")
    first, second = (rows(folder, table, keys, time) for folder in folders)
    for key, us in first.items():  # the time of a copy of one microsecond is all noise
        if abs(us - second[key]) > 0.2 * second[key] + 2:
            sys.exit(f"{table}: {key} takes {us} and {second[key]} us")
    return len(first)


ops = compare(sys.argv[1:3], "ops_summary", ["name"], "Count", "total_direct_kernel_time_sum")
calls = compare(sys.argv[1:3], "ops_unique_args", ["name", "Input Dims", "Input type", "Concrete Inputs"],
                "operation_count", "total_direct_kernel_time_sum")
kernels = compare(sys.argv[1:3], "kernel_summary", ["Parent cpu_op", "Kernel name"], "Kernel duration (µs)_count",
                  "Kernel duration (µs)_sum")
print(f"the same {ops} ops, {calls} calls, {kernels} kernels")
