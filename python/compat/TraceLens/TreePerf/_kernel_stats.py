"""Kernels of many calls of one op, position by position: how often and how long."""

import warnings

import numpy as np

_STATS = {
    "mean": ("mean_duration_us", np.mean),
    "median": ("median_duration_us", np.median),
    "std": ("std_dev_duration_us", np.std),
    "min": ("min_duration_us", np.min),
    "max": ("max_duration_us", np.max),
}
_NOT_SHOWN = ("dur", "gpu_op_uid")


def kernel_stats(lists, metrics=("mean",)):
    """Of lists of {name, dur, stream}: one dict per position of the first list that is not empty.

    Lists of another length are left out, with a warning.
    """
    lists = [each for each in lists if isinstance(each, (list, tuple)) and each]
    if not lists:
        return []
    template = lists[0]
    kept = [each for each in lists if len(each) == len(template)]
    if len(kept) < len(lists):
        warnings.warn("Inconsistent kernel list length found. Skipping a row.", UserWarning)
    wanted = [_STATS[metric] for metric in _STATS if metric in metrics]
    found = []
    for position, kernel in enumerate(template):
        durations = np.array([each[position]["dur"] for each in kept])
        shown = {key: value for key, value in kernel.items() if key not in _NOT_SHOWN}
        shown["count"] = len(durations)
        shown["total_duration_us"] = durations.sum().item()
        for name, of in wanted:
            shown[name] = of(durations).item()
        found.append(shown)
    return sorted(found, key=lambda each: (each["total_duration_us"], each["name"]))


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
