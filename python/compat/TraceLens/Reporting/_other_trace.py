"""What a second trace adds to the summary of all ops: the time of the calls that both traces have."""

import numpy as np

from ..TreePerf._groups import Groups

_KEYS = ("name", "op category", "process_name", "process_label", "thread_name", "Input Dims", "Input type",
         "Input Strides", "Concrete Inputs")  # fmt: skip
_SUM = "Kernel Time (µs)_sum"
_ID, _NAME = "lowest_common_ancestor_id", "lowest_common_ancestor_name"


def with_other_trace(summary, ops, stats):
    """The summary with seven columns behind its sums, of the rows of TraceDiff's diff_stats; `ops`: the rows that were
    summed up."""
    rows = _rows_of_kernels(summary, ops)
    if not rows or _SUM not in summary.columns or _ID not in stats.columns:
        return summary
    shared = _Shared(len(summary))
    known = stats[stats[_ID].notna()]
    first = second = known  # of equal traces, which have no column that tells them apart
    if "source" in known.columns:
        first, second = (known[known["source"] == trace] for trace in ("trace1", "trace2"))
    second = dict(tuple(second.groupby(_ID)))
    for ancestor, group in first.groupby(_ID, sort=True):
        other = second.get(ancestor)
        names = [name for name in group[_NAME].dropna() if name]
        hit = dict.fromkeys(rows[uid] for uid in group["gpu_op_uid"].dropna() if uid in rows)
        for row in hit:
            shared.add(row, ancestor, names[:1], group["busy_time"].iloc[0],
                       0 if other is None else other["busy_time"].iloc[0],
                       other is not None and other["gpu_op_uid"].notna().any())  # fmt: skip
    return shared.put_into(summary) if shared.any() else summary


def _rows_of_kernels(summary, ops):
    """UID of a kernel -> row of the summary that it is counted in."""
    keys = [key for key in _KEYS if key in summary.columns and key in ops.columns]
    if "kernel_details" not in ops.columns or not keys:
        return {}
    row_of = {tuple(map(str, cells)): row for row, cells in enumerate(zip(*(summary[key] for key in keys)))}
    groups = Groups(ops, keys)
    of_group = [row_of.get(tuple(map(str, cells))) for cells in zip(*groups.keys().values())]
    found = {}
    for number, kernels in zip(groups.number.tolist(), ops["kernel_details"]):
        row = of_group[number]
        if row is not None and isinstance(kernels, list):
            found.update((kernel["gpu_op_uid"], row) for kernel in kernels if kernel.get("gpu_op_uid") is not None)
    return found


class _Shared:
    """Per row of the summary: the calls that both traces have, and their times in both."""

    def __init__(self, count):
        self._ids, self._names = [[] for _ in range(count)], [[] for _ in range(count)]
        self._times, self._counts = np.zeros((2, count)), np.zeros(count)

    def any(self):
        return any(self._ids)

    def add(self, row, ancestor, names, first_us, second_us, has_second):
        self._ids[row].append(str(ancestor))
        self._names[row] += names
        self._times[:, row] += first_us, second_us
        self._counts[row] += has_second

    def put_into(self, summary):
        known = np.array([bool(ids) for ids in self._ids])
        first, second = np.where(known, self._times, np.nan)
        ratio = np.divide(second, first, out=np.full(len(known), np.nan), where=first > 0)
        columns = {
            "speedup (trace2/trace1)": ratio,
            "delta_us (trace2 - trace1)": second - summary[_SUM].to_numpy(),
            "lca_count_trace2": np.where(known, self._counts, np.nan),
            "lca_id": ["; ".join(ids) if ids else None for ids in self._ids],
            "lca_name": ["; ".join(names) if ids else None for ids, names in zip(self._ids, self._names)],
            "lca_total_kernel_time_trace1_us": first,
            "lca_total_kernel_time_trace2_us": second,
        }
        made = summary.copy()
        at = made.columns.get_loc(_SUM) + 1
        for place, (name, cells) in enumerate(columns.items(), at):
            made.insert(place, name, cells)
        return made
