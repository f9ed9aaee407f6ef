"""Kernels of many calls of one op, position by position: how often and how long."""

import warnings

import numpy as np
import pandas as pd

from ._reductions import Reductions

_NAMES = {
    "mean": "mean_duration_us",
    "median": "median_duration_us",
    "std": "std_dev_duration_us",
    "min": "min_duration_us",
    "max": "max_duration_us",
}
_NOT_SHOWN = ("dur", "gpu_op_uid")


def kernel_stats(lists, metrics=("mean",)):
    """Of lists of {name, dur, stream}: one dict per position of the first list that is not empty.

    Lists of another length are left out, with a warning.
    """
    return kernel_stats_of_groups([lists], metrics)[0]


def kernel_stats_of_groups(groups, metrics=("mean",)):
    """The same for many groups of lists: all durations are summed up in one go."""
    kept = [_comparable(lists) for lists in groups]
    durations, positions, first = [], [], 0
    for lists in kept:
        for each in lists:
            durations.extend([kernel["dur"] for kernel in each])
            positions.extend(range(first, first + len(each)))
        first += len(lists[0]) if lists else 0
    columns = _columns(durations, positions, first, metrics)
    made, place = [], 0
    for lists in kept:
        found = []
        for kernel in lists[0] if lists else ():
            shown = {key: value for key, value in kernel.items() if key not in _NOT_SHOWN}
            shown["count"] = len(lists)
            for name, cells in columns:
                shown[name] = cells[place]
            found.append(shown)
            place += 1
        made.append(sorted(found, key=lambda each: (each["total_duration_us"], each["name"])))
    return made


def _comparable(lists):
    lists = [each for each in lists if isinstance(each, (list, tuple)) and each]
    kept = [each for each in lists if len(each) == len(lists[0])]
    if len(kept) < len(lists):
        warnings.warn("Inconsistent kernel list length found. Skipping a row.", UserWarning)
    return kept


def _columns(durations, positions, count, metrics):
    if not count:
        return []
    numbers = np.array(positions)
    all_of_them = Reductions(pd.Series(durations), numbers, count)
    columns = [("total_duration_us", all_of_them.sum().tolist())]
    for metric, name in _NAMES.items():
        if metric in metrics:
            cells = all_of_them.population_std() if metric == "std" else getattr(all_of_them, metric)()
            columns.append((name, cells.tolist()))
    return columns


def shortened(stats, length=64):
    """The same for reading: short names and mean durations with two decimals; None of no kernels."""
    if not isinstance(stats, list) or not stats:
        return None
    return [
        {
            "name": each["name"][:length] + "..." if len(each["name"]) > length else each["name"],
            "stream": each.get("stream"),
            "mean_duration_us": round(each["mean_duration_us"], 2)
            if each.get("mean_duration_us") is not None
            else None,
        }
        for each in stats
    ]
