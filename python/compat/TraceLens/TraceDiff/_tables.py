"""Summaries of diff_stats by chosen aggregates."""

import json

import pandas as pd

from ..TreePerf._groups import texts

_NOT_GROUPED = ("kernel_time", "lowest_common_ancestor_id", "gpu_op_uid")


def unique_args(diff_stats, op_name=None, agg_metrics=("mean",)):
    """diff_stats by all that tells its rows apart, the longest first."""
    rows = diff_stats if op_name is None else diff_stats[diff_stats["name"] == op_name]
    if rows.empty:
        return pd.DataFrame()
    keys = [column for column in rows.columns if column not in _NOT_GROUPED]
    groups = rows.groupby(keys, dropna=False, sort=False)["kernel_time"]
    metrics = [*agg_metrics, *([] if "sum" in agg_metrics else ["sum"])]
    made = groups.agg(metrics).add_prefix("kernel_time_")
    made.insert(0, "operation_count", groups.size())
    made = made.reset_index()
    made.insert(1, "operation_count", made.pop("operation_count"))
    order = pd.DataFrame({column: texts(made[column]) for column in made.columns
                          if not str(column).startswith("kernel_time_")})  # fmt: skip
    order.insert(0, "kernel_time_sum", made["kernel_time_sum"])
    by = list(order.columns)
    places = order.sort_values(by, ascending=[False] + [True] * (len(by) - 1), kind="stable").index
    return made.iloc[places].reset_index(drop=True)


def by_ancestor(diff_stats):
    """Kernel time below each call that both traces have, by trace."""
    if diff_stats.empty:
        return pd.DataFrame()
    keys = [column for column in ("lowest_common_ancestor_name", "source") if column in diff_stats.columns]
    groups = diff_stats.groupby(keys, dropna=False)["kernel_time"]
    made = groups.agg(["count", "mean", "sum"]).add_prefix("kernel_time_").reset_index()
    return made.sort_values("kernel_time_sum", ascending=False, kind="stable").reset_index(drop=True)


def op_map(text):
    return json.loads(text) if text else {}
