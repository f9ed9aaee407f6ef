"""Kernels of many calls of one op, position by position: how often and how long."""

import warnings

import numpy as np
import pandas as pd
from tracelens import _native

from ._reductions import Reductions

_NAMES = {
    "mean": "mean_duration_us",
    "median": "median_duration_us",
    "std": "std_dev_duration_us",
    "min": "min_duration_us",
    "max": "max_duration_us",
}
_NOT_SHOWN = ("dur", "gpu_op_uid")


def kernel_stats_of_groups(cells, groups, count, metrics=("mean",)):
    """Of lists of {name, dur, stream}: for each group one dict per position of its first list that is not
    empty. Lists of another length are left out, with a warning.

    cells: an array of objects; groups: the number of each one's group, below `count`.
    """
    found = _native.kernel_durations(cells, groups, count)
    if found is None:
        found = _durations(cells, groups, count)
    durations, places, first_rows, lengths, sizes, left_out = found
    if left_out:
        warnings.warn("Inconsistent kernel list length found. Skipping a row.", UserWarning)
    columns = _columns(durations, places, int(lengths.sum()), metrics)
    made, place = [], 0
    for row, size in zip(first_rows.tolist(), sizes.tolist()):
        stats = []
        for kernel in cells[row] if row >= 0 else ():
            shown = {key: value for key, value in kernel.items() if key not in _NOT_SHOWN}
            shown["count"] = size
            for name, numbers in columns:
                shown[name] = numbers[place]
            stats.append(shown)
            place += 1
        made.append(sorted(stats, key=lambda each: (each["total_duration_us"], each["name"])))
    return made


def _durations(cells, groups, count):
    """The same as of _native, whatever the cells and durations are."""
    first_rows, lengths, sizes = (np.full(count, value) for value in (-1, 0, 0))
    kept, left_out = [], False
    for row, (cell, group) in enumerate(zip(cells, groups)):
        if not isinstance(cell, (list, tuple)) or not cell:
            continue
        if first_rows[group] < 0:
            first_rows[group], lengths[group] = row, len(cell)
        if len(cell) == lengths[group]:
            sizes[group] += 1
            kept.append((cell, group))
        else:
            left_out = True
    starts = np.cumsum(lengths) - lengths
    durations = [kernel["dur"] for cell, _ in kept for kernel in cell]
    places = [start for cell, group in kept for start in range(starts[group], starts[group] + len(cell))]
    return pd.Series(durations).to_numpy(), np.array(places), first_rows, lengths, sizes, left_out


def _columns(durations, places, count, metrics):
    if not count:
        return []
    all_of_them = Reductions(durations, places, count)
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
            "mean_duration_us": _two_decimals(each.get("mean_duration_us")),
        }
        for each in stats
    ]


def _two_decimals(mean):
    """As NumPy rounds, of the mean as a decimal number: the order of a sum must not decide."""
    return None if mean is None else float(np.rint(round(mean, 6) * 100) / 100)
