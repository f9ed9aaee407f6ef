"""Sheets about kernels by name, and about short ones."""

import numpy as np
import pandas as pd

from ..TreePerf._groups import Groups

_DUR = "Kernel duration (µs)"
_SHORT = "Short Kernel"


def total_us(analyzer):
    """The time from the first to the last GPU event."""
    known = getattr(analyzer, "total_time_ms", None)
    if known is None:
        timeline = analyzer.get_df_gpu_timeline()
        known = timeline.loc[timeline["type"] == "total_time", "time ms"].iloc[0]
        analyzer.total_time_ms = known
    return known * 1e3


def kernel_summary(analyzer):
    kernels = analyzer.get_df_kernels(launcher_detail=True)
    if kernels.empty:
        return kernels
    _name_calls_without_op(kernels)
    keys = [key for key in ("Parent op category", "Parent cpu_op", "Kernel name", "Kernel stream")
            if key in kernels.columns]  # fmt: skip
    groups = kernels.groupby(keys, dropna=False, sort=True)[_DUR]
    made = groups.agg(["sum", "count", "mean", "min", "max"]).add_prefix(_DUR + "_").reset_index()
    made = made.sort_values(_DUR + "_sum", ascending=False, kind="stable").reset_index(drop=True)
    made["Percent of kernels time (%)"] = made[_DUR + "_sum"] / kernels[_DUR].sum() * 100
    made["Percent of total time (%)"] = made[_DUR + "_sum"] / total_us(analyzer) * 100
    return made


def _name_calls_without_op(kernels):
    if "Launcher" not in kernels.columns:
        return
    launched = kernels["Launcher"].notna()
    if "Parent cpu_op" in kernels.columns:
        kernels["Parent cpu_op"] = kernels["Parent cpu_op"].fillna(kernels["Launcher"])
    if "Parent op category" not in kernels.columns:
        kernels["Parent op category"] = None
    bare = launched & kernels["Parent op category"].isna()
    is_graph = kernels["Launcher"].fillna("").str.lower().str.contains("cudagraph|graphlaunch")
    kernels.loc[bare, "Parent op category"] = np.where(is_graph[bare], "graph", "runtime")


def short_kernels(analyzer, threshold_us, bins, topk):
    kernels = analyzer.get_df_kernels()
    short = kernels[kernels[_DUR] < threshold_us] if not kernels.empty else kernels
    histogram = _histogram(short, bins)
    keys = ["Kernel name"] if analyzer.gpu_only else [
        "Parent cpu_op", "Input dims", "Input strides", "Concrete Inputs", "Kernel name"]  # fmt: skip
    if short.empty or not set(keys) <= set(short.columns):
        figures = ("sum", "mean", "percent of total time")
        columns = [f"{_SHORT} duration (µs) {figure}" for figure in figures]
        return histogram, pd.DataFrame(columns=[*keys, columns[0], f"{_SHORT} count", *columns[1:]])
    groups = Groups(short.dropna(subset=keys), keys)
    made = pd.DataFrame(groups.keys())
    # Durations are whole nanoseconds: sums that are equal must not differ in their last bit.
    made[f"{_SHORT} duration (µs) sum"] = groups.aggregate(_DUR, "sum").round(6)
    made[f"{_SHORT} count"] = groups.size()
    made[f"{_SHORT} duration (µs) mean"] = groups.aggregate(_DUR, "mean")
    percent = f"{_SHORT} duration (µs) percent of total time"
    made[percent] = made[f"{_SHORT} duration (µs) sum"] / total_us(analyzer) * 100
    made = made.sort_values(
        [f"{_SHORT} duration (µs) sum", f"{_SHORT} count", f"{_SHORT} duration (µs) mean", percent],
        ascending=[False, True, True, True], kind="stable").reset_index(drop=True)  # fmt: skip
    return histogram, made if topk is None else made.head(topk)


def _histogram(short, bins):
    columns = ["bin_start", "bin_end", "count"]
    if short.empty:
        return pd.DataFrame(columns=columns)
    counts, edges = np.histogram(short[_DUR].to_numpy(dtype=float), bins=bins)
    return pd.DataFrame({"bin_start": edges[:-1], "bin_end": edges[1:], "count": counts})
