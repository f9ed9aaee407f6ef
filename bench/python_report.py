#!/usr/bin/env python3
"""Measures the Python package on a trace: reading, reporting, frames, and walking the tree.

    PYTHONPATH=build/check/python bench/python_report.py TRACE [--walk]

Prints one JSON object: seconds without the interpreter's start and imports (pandas' among them), and
with --walk the microseconds that each node of the tree costs.
"""
import json
import sys
import time


def main():
    start = time.perf_counter()
    import tracelens as tl

    imported = time.perf_counter() - start
    import numpy  # noqa: F401
    import pandas  # noqa: F401

    trace_path = sys.argv[1]
    if "--walk" in sys.argv:
        tree = tl.read(trace_path).tree
        start = time.perf_counter()
        letters = sum(len(node.name) for node in tree)
        seconds = time.perf_counter() - start
        print(json.dumps({"seconds": seconds, "us_per_node": 1e6 * seconds / len(tree),
                          "nodes": len(tree), "letters": letters}))
        return
    start = time.perf_counter()
    report = tl.report(tl.read(trace_path))
    frames = [table.to_pandas() for table in report.values()]
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "import_ms": 1e3 * imported, "frames": len(frames),
                      "cells": int(sum(frame.size for frame in frames))}))


if __name__ == "__main__":
    main()
