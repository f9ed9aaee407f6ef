"""Summaries of the table of kernel launchers: by op, by category, by arguments.

They take any frame with the columns they need: frames of several ranks put together, with columns
of one's own.
"""

import warnings

import numpy as np
import pandas as pd

from ._groups import (
    Groups,
    add_percentages,
    aggregate_name,
    distinct,
    in_order,
    longest_first,
    with_percentages,
)
from ._kernel_stats import kernel_stats_of_groups

DIRECT, SUBTREE = "total_direct_kernel_time", "total_subtree_kernel_time"
ARGUMENTS = ("Input Dims", "Input type", "Input Strides", "Concrete Inputs")


def _by(frame, *columns):
    return [column for column in columns if column in frame.columns]


def _sorted_groups(frame, columns):
    return frame.groupby(columns, sort=True)


def _longest_first(frame, column):
    return frame.sort_values(column, ascending=False, kind="stable").reset_index(drop=True)


class _Ranking:
    """Launchers by some columns: the longest group first, groups that tie by their keys."""

    def __init__(self, df, *columns):
        keys = _by(df, *columns)
        if columns[0] not in keys:
            raise KeyError(columns[0])
        self._groups = Groups(df, keys)
        if any(pd.isna(cells).any() for cells in self._groups.keys().values()):
            self._groups = Groups(df.dropna(subset=keys), keys)
        self._keys = {key: np.asarray(cells) for key, cells in self._groups.keys().items()}
        self._columns = {}

    def __contains__(self, column):
        return column in self._groups.frame.columns

    def add(self, name, cells):
        self._columns[name] = np.asarray(cells)

    def add_objects(self, name, cells):
        made = np.empty(self._groups.count, dtype=object)
        for number, cell in enumerate(cells):
            made[number] = cell
        self._columns[name] = made

    def sums(self, column):
        return np.asarray(self._groups.aggregate(column, "sum"))

    def counts(self, column=None):
        return self._groups.size() if column is None else self._groups.aggregate(column, "count")

    def add_categories(self):
        codes, categories = distinct(self._groups.frame["op category"])
        found = [set() for _ in range(self._groups.count)]
        for pair in np.unique(self._groups.number * max(len(categories), 1) + codes).tolist():
            number, code = divmod(pair, len(categories))
            found[number].add(categories[code])
        self.add_objects("Categories", map(sorted, found))

    def add_first_stacks(self):
        if "call_stack" in self:
            self.add_objects("call_stack_first", self._groups.firsts("call_stack"))

    def frame(self, longest, share_of):
        order = np.array(sorted(range(self._groups.count), key=lambda number: tuple(
            cells[number] for cells in self._keys.values())), dtype=np.int64)  # fmt: skip
        order = order[np.argsort(-self._columns[longest][order], kind="stable")]
        made = {name: cells[order] for name, cells in {**self._keys, **self._columns}.items()}
        return pd.DataFrame(with_percentages(made, share_of))


def summary(df):
    if df.empty and "name" not in df.columns:
        return pd.DataFrame(
            columns=["name", DIRECT + "_sum", DIRECT + "_ms", "Count", "Categories",
                     "Percentage (%)", "Cumulative Percentage (%)"])  # fmt: skip
    made = _Ranking(df, "name", "is_recompute")
    sums = {column: made.sums(column) for column in (DIRECT, SUBTREE) if column in made}
    for column, cells in sums.items():
        made.add(column + "_sum", cells)
    for column, cells in sums.items():
        made.add(column + "_ms", cells / 1000)
    made.add("Count", made.counts())
    if "op category" in made:
        made.add_categories()
    return made.frame(DIRECT + "_sum", DIRECT + "_ms")


def summary_by_category(df):
    if df.empty and "op category" not in df.columns:
        return pd.DataFrame(
            columns=["op category", "Count", DIRECT + "_ms", "Percentage (%)",
                     "Cumulative Percentage (%)"])  # fmt: skip
    made = _Ranking(df, "op category", "is_recompute")
    made.add("Count", made.counts())
    made.add(DIRECT + "_ms", made.sums(DIRECT) / 1000)
    return made.frame(DIRECT + "_ms", DIRECT + "_ms")


def summary_by_module(df):
    if df.empty and "name" not in df.columns:
        return pd.DataFrame(
            columns=["name", "parent_module", DIRECT + "_sum", DIRECT + "_ms", "Count", "Categories",
                     "Percentage (%)", "Cumulative Percentage (%)"])  # fmt: skip
    made = _Ranking(df, "name", "parent_module")
    made.add(DIRECT + "_sum", made.sums(DIRECT))
    if SUBTREE in made:
        made.add(SUBTREE + "_sum", made.sums(SUBTREE))
        made.add(SUBTREE + "_count", made.counts(SUBTREE))
    made.add(DIRECT + "_ms", made.sums(DIRECT) / 1000)
    made.add("Count", made.counts())
    made.add_categories()
    made.add_first_stacks()
    return made.frame(DIRECT + "_sum", DIRECT + "_ms")


def summary_by_category_and_module(df):
    if df.empty and "op category" not in df.columns:
        return pd.DataFrame(
            columns=["op category", "parent_module", "Count", DIRECT + "_ms", "Percentage (%)",
                     "Cumulative Percentage (%)"])  # fmt: skip
    made = _Ranking(df, "op category", "parent_module", "is_recompute")
    made.add("Count", made.counts())
    made.add_first_stacks()
    made.add(DIRECT + "_ms", made.sums(DIRECT) / 1000)
    return made.frame(DIRECT + "_ms", DIRECT + "_ms")


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
        starts = np.asarray(groups.aggregate("ts", "min"))
        # Whole nanoseconds: doubles of large times leave digits behind that nobody measured.
        made["first_occurrence_time"] = np.round(starts - (np.nanmin(starts) if len(starts) else 0), 3)
    metrics = in_order(agg_metrics)
    for how in [*metrics, "sum"]:
        for column in _by(df, DIRECT, SUBTREE):
            made[f"{column}_{aggregate_name(how)}"] = groups.aggregate(column, how)
    if "UID" in df.columns:
        made["ex_UID"] = groups.firsts("UID")
    if "call_stack" in df.columns:
        made["call_stack"] = groups.first("call_stack")
    if "kernel_details" in df.columns:
        made["kernel_details_summary"] = _stats_of(groups, "kernel_details", metrics)
    if include_overlapping_kernels and "overlapping_kernels_details" in df.columns:
        made["overlapping_kernels_details_summary"] = _stats_of(
            groups, "overlapping_kernels_details", metrics)  # fmt: skip
        overlap = pd.to_numeric(groups.frame["overlap_pct"])
        for how in metrics:
            made[f"overlap_pct_{aggregate_name(how)}"] = overlap.groupby(groups.number).agg(how).array
    return longest_first(made, [DIRECT + "_sum", "ex_UID"], DIRECT + "_sum" if include_pct else None)


def _stats_of(groups, column, metrics):
    made = np.empty(groups.count, dtype=object)
    cells = np.asarray(groups.cells(column), dtype=object)
    for number, stats in enumerate(kernel_stats_of_groups(cells, groups.number, groups.count, metrics)):
        made[number] = stats
    return made
