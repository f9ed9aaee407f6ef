"""Summaries of the tables of modelled ops: by parameters, and of all ops by arguments."""

import warnings

import numpy as np
import pandas as pd

from ._groups import Groups, add_percentages, aggregate_name, in_order, longest_first, texts
from ._launcher_summaries import ARGUMENTS, _stats_of

TIME = "Kernel Time (µs)"


class _Columns:
    """The columns of a summary, added in order; those whose source is absent are left out."""

    def __init__(self, groups, metrics):
        self.groups = groups
        self.made = groups.keys()
        self.metrics = metrics

    def __contains__(self, column):
        return column in self.groups.frame.columns

    def first(self, *columns, suffix="_first"):
        for column in columns:
            if column in self:
                self.made[column + suffix] = self.groups.first(column)

    def insert_second(self, name, cells):
        first, *others = self.made.items()
        self.made = dict([first, (name, cells), *others])

    def spread(self, column, metrics=None):
        if column not in self:
            return
        for how in self.metrics if metrics is None else metrics:
            self.made[f"{column}_{aggregate_name(how)}"] = self.groups.aggregate(column, how)


def summarize_metrics(
    df, agg_metrics=("mean", "std"), group_by_num_kernels=False, include_overlapping_kernels=False
):
    if df.empty:
        warnings.warn("Input DataFrame is empty. Returning an empty summary DataFrame.")
        return pd.DataFrame()
    params = [column for column in df.columns if str(column).startswith("param: ")]
    keys = ["name", *params]
    if group_by_num_kernels and "num_kernels" in df.columns:
        keys.append("num_kernels")
    if "is_recompute" in df.columns:
        keys.append("is_recompute")
    frame = df.copy(deep=False)
    for column in keys:
        if column not in ("name", "is_recompute"):
            frame[column] = texts(df[column])
    grouped = list(keys)
    if include_overlapping_kernels:
        frame["_overlapping"] = texts(df["overlapping_kernel_names"])
        grouped.insert(1, "_overlapping")
    groups = Groups(frame, grouped)
    columns = _Columns(groups, in_order(agg_metrics))
    if include_overlapping_kernels:
        columns.insert_second("overlapping_kernel_names_first", groups.first("overlapping_kernel_names"))
    columns.first("GFLOPS", "Data Moved (MB)", "FLOPS/Byte")
    columns.spread("TB/s")
    columns.spread("TFLOPS/s")
    columns.first("process_name", "process_label", "thread_name")
    columns.first("Compute Spec", suffix="")
    columns.first("Roofline Time (µs)", "Roofline Bound")
    columns.spread("Pct Roofline")
    columns.first("Origami Time (µs)", "Origami TFLOPS/s")
    columns.spread("Origami TB/s")
    columns.spread("Pct Origami")
    columns.spread("Non-Data-Mov TFLOPS/s")
    columns.spread("Non-Data-Mov Kernel Time (µs)", ["sum"])
    _kernel_columns(columns, "__summarize_kernel_stats", include_overlapping_kernels)
    columns.first(*ARGUMENTS)
    columns.spread(TIME)
    columns.spread(TIME, ["sum"])
    columns.made["name_count"] = groups.size()
    columns.made["UID_first"] = groups.first("UID")
    made = columns.made
    if include_overlapping_kernels:
        return _ordered_by_family(pd.DataFrame(made), keys, "UID_first", "_overlapping")
    return longest_first(made, [TIME + "_sum", "UID_first"])


def _kernel_columns(columns, suffix, with_overlap):
    groups = columns.groups
    if "kernel_details" in columns:
        columns.made["kernel_details" + suffix] = _stats_of(
            groups, "kernel_details", columns.metrics)  # fmt: skip
    if with_overlap and "overlapping_kernels_details" in columns:
        columns.made["overlapping_kernels_details" + suffix] = _stats_of(
            groups, "overlapping_kernels_details", columns.metrics)  # fmt: skip
        overlap = pd.to_numeric(groups.frame["overlap_pct"])
        for how in columns.metrics:
            name = f"overlap_pct_{aggregate_name(how)}"
            columns.made[name] = overlap.groupby(groups.number).agg(how).round(2).to_numpy()
        if {"overlap_pct_std", "overlap_pct_mean"} <= set(columns.made):
            known = ~np.isnan(columns.made["overlap_pct_mean"])
            spread = columns.made["overlap_pct_std"].copy()
            spread[known & np.isnan(spread)] = 0.0
            columns.made["overlap_pct_std"] = spread


def _ordered_by_family(made, keys, uid, drop=None):
    """Rows that differ only in what ran beside them stay together, the longest family first."""
    family = Groups(made, keys)
    order = pd.DataFrame({
        "total": np.asarray(family.aggregate(TIME + "_sum", "sum"))[family.number],
        "uid": np.asarray(family.aggregate(uid, "min"))[family.number],
    })  # fmt: skip
    by = ["total", "uid"]
    for number, column in enumerate(keys):
        order[f"key{number}"] = texts(made[column])
        by.append(f"key{number}")
    order["own"], order["own_uid"] = made[TIME + "_sum"], made[uid]
    ascending = [False] + [True] * (len(by) - 1) + [False, True]
    rows = order.sort_values([*by, "own", "own_uid"], ascending=ascending, kind="stable").index
    made = made.iloc[rows].reset_index(drop=True)
    return made.drop(columns=drop) if drop else made


def summarize_unified(
    df,
    agg_metrics=("mean", "std"),
    include_pct=True,
    group_by_num_kernels=False,
    include_call_stack=False,
    include_overlapping_kernels=False,
    tree=None,
):
    if df.empty:
        warnings.warn("Input DataFrame is empty. Returning an empty summary DataFrame.")
        return pd.DataFrame()
    keys = ["name", "op category", "process_name", "process_label", "thread_name", *ARGUMENTS]
    if group_by_num_kernels:
        keys.append("num_kernels")
    keys = [column for column in [*keys, "is_recompute"] if column in df.columns]
    grouped = list(keys)
    if include_overlapping_kernels:
        grouped.insert(1, "overlapping_kernel_names")
    groups = Groups(df, grouped)
    metrics = in_order(agg_metrics)
    columns = _Columns(groups, metrics)
    made = columns.made
    made["ex_UID"] = groups.firsts("UID")
    made["operation_count"] = groups.size()
    if "duration_us" in columns:
        made["total_duration_us"] = groups.aggregate("duration_us", "sum")
        for how in ("mean", "std"):
            if how in metrics:
                made[f"{how}_duration_us"] = groups.aggregate("duration_us", how)
    columns.first("GFLOPS", "Data Moved (MB)", "FLOPS/Byte", "Compute Spec", "Roofline Bound",
                  suffix="")  # fmt: skip
    usual = [how for how in metrics if how in ("mean", "std")]
    others = [how for how in metrics if how not in ("mean", "std")]
    for column in ("TB/s", "TFLOPS/s", TIME):
        columns.spread(column, usual)
    columns.spread(TIME, ["sum"])
    columns.spread("duration_us", others)
    columns.first("Origami Time (µs)", "Origami TFLOPS/s")
    columns.spread("TB/s", others)
    columns.spread("TFLOPS/s", others)
    columns.spread("Origami TB/s")
    columns.spread("Pct Origami")
    columns.first("Roofline Time (µs)")
    columns.spread("Pct Roofline")
    columns.spread(TIME, others)
    _kernel_columns(columns, "_summary", include_overlapping_kernels)
    columns.first("perf_params", "has_perf_model", suffix="")
    if include_call_stack and "kernel_details_summary" in made:
        from ._call_stacks import add_call_stack_columns

        add_call_stack_columns(made)
    if include_overlapping_kernels:
        made = _ordered_by_family(pd.DataFrame(made), keys, "ex_UID")
        return add_percentages(made, TIME + "_sum") if include_pct else made
    return longest_first(made, [TIME + "_sum", "ex_UID"], TIME + "_sum" if include_pct else None)
