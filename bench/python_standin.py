#!/usr/bin/env python3
"""Measures the stand-in for the Python TraceLens: what a notebook about one trace asks.

    PYTHONPATH=build/check/python:build/check/python_compat bench/python_standin.py TRACE

Prints one JSON object: the seconds of each step, of all of them, without the interpreter's start and imports,
and the number of events.
"""
import json
import sys
import time


def main():
    import numpy  # noqa: F401
    import pandas  # noqa: F401
    from TraceLens import TreePerfAnalyzer

    steps = {}

    def timed(name, function):
        start = time.perf_counter()
        made = function()
        steps[name] = time.perf_counter() - start
        return made

    def read():
        return TreePerfAnalyzer.from_file(sys.argv[1], add_python_func=True)

    analyzer = timed("from_file", read)
    timed("timeline", analyzer.get_df_gpu_timeline)
    launchers = timed("launchers", lambda: analyzer.get_df_kernel_launchers(include_kernel_details=True))
    timed("summary", lambda: analyzer.get_df_kernel_launchers_summary(launchers))
    timed("by category", lambda: analyzer.get_df_kernel_launchers_summary_by_category(launchers))
    timed("unique args", lambda: analyzer.get_df_kernel_launchers_unique_args(launchers, include_pct=True))
    unified = timed("unified", analyzer.build_df_unified_perf_table)
    timed("unified summary", lambda: analyzer.summarize_df_unified_perf_table(unified))
    timed("kernels", analyzer.get_df_kernels)
    seconds = sum(steps.values())
    events = timed("events", lambda: analyzer.tree.events)
    timed("a loop by name", lambda: sum(event["name"] == "aten::mm" for event in events))
    timed("every key", lambda: sum(len(event) for event in events))
    print(json.dumps({"seconds": seconds, "steps": steps, "events": len(events),
                      "us_per_filled_event": 1e6 * steps["every key"] / len(events)}))


if __name__ == "__main__":
    main()
