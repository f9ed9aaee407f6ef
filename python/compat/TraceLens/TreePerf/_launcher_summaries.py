"""Summaries of the table of kernel launchers: by op, by category, by arguments.

They take any frame with the columns they need: frames of several ranks put together, with columns
of one's own.
"""

import warnings

import numpy as np
import pandas as pd

from ._groups import Groups, add_percentages, aggregate_name, in_order
from ._kernel_stats import kernel_stats_of_groups

DIRECT, SUBTREE = "total_direct_kernel_time", "total_subtree_kernel_time"
ARGUMENTS = ("Input Dims", "Input type", "Input Strides", "Concrete Inputs")


def _by(frame, *columns):
    return [column for column in columns if column in frame.columns]


def _sorted_groups(frame, columns):
    return frame.groupby(columns, sort=True)


def _longest_first(frame, column):
    return frame.sort_values(column, ascending=False, kind="stable").reset_index(drop=True)


def _categories(groups):
    return groups["op category"].agg(lambda cells: sorted(set(cells)))


def summary(df):
    if df.empty and "name" not in df.columns:
        return pd.DataFrame(
            columns=["name", DIRECT + "_sum", DIRECT + "_ms", "Count", "Categories",
                     "Percentage (%)", "Cumulative Percentage (%)"])  # fmt: skip
    groups = _sorted_groups(df, _by(df, "name", "is_recompute"))
    times = [column for column in (DIRECT, SUBTREE) if column in df.columns]
    made = groups[times].sum().add_suffix("_sum")
    for column in times:
        made[column + "_ms"] = made[column + "_sum"] / 1000
    made["Count"] = groups.size()
    if "op category" in df.columns:
        made["Categories"] = _categories(groups)
    made = _longest_first(made.reset_index(), DIRECT + "_sum")
    return add_percentages(made, DIRECT + "_ms")


def summary_by_category(df):
    if df.empty and "op category" not in df.columns:
        return pd.DataFrame(
            columns=["op category", "Count", DIRECT + "_ms", "Percentage (%)",
                     "Cumulative Percentage (%)"])  # fmt: skip
    groups = _sorted_groups(df, _by(df, "op category", "is_recompute"))
    made = pd.DataFrame({"Count": groups.size(), DIRECT + "_ms": groups[DIRECT].sum()})
    made = _longest_first(made.reset_index(), DIRECT + "_ms")
    made[DIRECT + "_ms"] /= 1000
    return add_percentages(made, DIRECT + "_ms")


def summary_by_module(df):
    groups = _sorted_groups(df, _by(df, "name", "parent_module"))
    made = pd.DataFrame({DIRECT + "_sum": groups[DIRECT].sum()})
    if SUBTREE in df.columns:
        made[SUBTREE + "_sum"] = groups[SUBTREE].sum()
        made[SUBTREE + "_count"] = groups[SUBTREE].count()
    made[DIRECT + "_ms"] = made[DIRECT + "_sum"] / 1000
    made["Count"] = groups.size()
    made["Categories"] = _categories(groups)
    if "call_stack" in df.columns:
        made["call_stack_first"] = groups["call_stack"].agg(lambda cells: cells.iloc[0])
    made = _longest_first(made.reset_index(), DIRECT + "_sum")
    return add_percentages(made, DIRECT + "_ms")


def summary_by_category_and_module(df):
    groups = _sorted_groups(df, _by(df, "op category", "parent_module", "is_recompute"))
    made = pd.DataFrame({"Count": groups.size()})
    if "call_stack" in df.columns:
        made["call_stack_first"] = groups["call_stack"].agg(lambda cells: cells.iloc[0])
    made[DIRECT + "_ms"] = groups[DIRECT].sum() / 1000
    made = _longest_first(made.reset_index(), DIRECT + "_ms")
    return add_percentages(made, DIRECT + "_ms")


def summary_by_shape(df, name):
    warnings.warn(
        "get_df_kernel_launchers_summary_by_shape is deprecated; use "
        "get_df_kernel_launchers_unique_args instead",
        DeprecationWarning,
        stacklevel=3,
    )
    rows = df[df["name"] == name]
    groups = _sorted_groups(rows, ["Input Dims", "Input type", "Input Strides"])
    made = groups[DIRECT].agg(["sum", "count", "mean", "std"])
    made.columns = ["Total Kernel Time (µs)", "Count", "Mean Kernel Time (µs)",
                    "Std Kernel Time (µs)"]  # fmt: skip
    made["Max Direct Kernel Count"] = groups["direct_kernel_count"].max()
    made["Min Direct Kernel Count"] = groups["direct_kernel_count"].min()
    made = _longest_first(made.reset_index(), "Total Kernel Time (µs)")
    made["Total Kernel Time (ms)"] = made["Total Kernel Time (µs)"] / 1000
    return add_percentages(made, "Total Kernel Time (ms)")


def unique_args(
    df,
    event_name=None,
    agg_metrics=("mean",),
    include_pct=False,
    group_by_num_kernels=False,
    group_by_parent_module=False,
    include_overlapping_kernels=False,
):
    if event_name is not None:
        df = df[df["name"] == event_name]
    wanted = ["name"]
    if include_overlapping_kernels:
        wanted.append("overlapping_kernel_names")
    wanted.append("op category")
    if group_by_parent_module:
        wanted.append("parent_module")
    wanted += ["process_name", "process_label", "thread_name", *ARGUMENTS]
    if group_by_num_kernels:
        wanted.append("num_kernels")
    wanted.append("is_recompute")
    keys = _by(df, *wanted)
    if not keys:
        raise ValueError("No valid columns found to group by.")

    groups = Groups(df, keys)
    made = groups.keys()
    made["operation_count"] = groups.size()
    if "ts" in df.columns:
        starts = groups.aggregate("ts", "min")
        made["first_occurrence_time"] = starts - (starts.min() if len(starts) else 0)
    metrics = in_order(agg_metrics)
    for how in [*metrics, "sum"]:
        for column in _by(df, DIRECT, SUBTREE):
            made[f"{column}_{aggregate_name(how)}"] = groups.aggregate(column, how)
    if "UID" in df.columns:
        made["ex_UID"] = groups.frame["UID"].to_numpy()[groups.first_row]
    if "call_stack" in df.columns:
        made["call_stack"] = groups.first("call_stack")
    if "kernel_details" in df.columns:
        made["kernel_details_summary"] = _stats_of(groups, "kernel_details", metrics)
    if include_overlapping_kernels and "overlapping_kernels_details" in df.columns:
        made["overlapping_kernels_details_summary"] = _stats_of(
            groups, "overlapping_kernels_details", metrics)  # fmt: skip
        overlap = pd.to_numeric(groups.frame["overlap_pct"])
        for how in metrics:
            made[f"overlap_pct_{aggregate_name(how)}"] = overlap.groupby(groups.number).agg(how)
    by = [DIRECT + "_sum"] + (["ex_UID"] if "ex_UID" in made.columns else [])
    made = made.sort_values(by, ascending=[False, True][: len(by)], kind="stable")
    made = made.reset_index(drop=True)
    return add_percentages(made, DIRECT + "_sum") if include_pct else made


def _stats_of(groups, column, metrics):
    made = np.empty(groups.count, dtype=object)
    for number, stats in enumerate(kernel_stats_of_groups(groups.cells(column), metrics)):
        made[number] = stats
    return made
