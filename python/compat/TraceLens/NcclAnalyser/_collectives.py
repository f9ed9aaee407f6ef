"""Tables with one row per collective: who waited for whom, and how fast the data went."""

import logging

import pandas as pd

from ..Trace2Tree._kinds import to_ns

logger = logging.getLogger("TraceLens.NcclAnalyser.nccl_analyser")

CLASSES = {
    "allreduce": ("allreduce", "allreduce_coalesced"),
    "reducescatter": ("reducescatter", "_reduce_scatter_base", "reduce_scatter_tensor_coalesced"),
    "allgather": ("allgather", "all_gather", "_allgather_base", "all_gather_into_tensor_coalesced",
                  "allgather_into_tensor_coalesced"),
    "alltoall": ("all_to_all",),
    "alltoallv": ("all_to_allv",),
}  # fmt: skip
CLASS_OF = {name: kind for kind, names in CLASSES.items() for name in names}
_FACTORS = {
    "allreduce": lambda n: 2 * (n - 1) / n,
    "reducescatter": lambda n: (n - 1) / n,
    "allgather": lambda n: (n - 1) / n,
    "alltoall": lambda n: (n - 1) / n,
}
_METADATA = ["Process Group Name", "Process Group Ranks", "Collective name", "Group size", "dtype",
             "In msg nelems", "Out msg nelems", "In msg size (MB)", "Out msg size (MB)"]  # fmt: skip
_UNEVEN_METADATA = ["Process Group Name", "Process Group Ranks", "Collective name", "Group size",
                    "dtype", "stream"]  # fmt: skip
_PER_RANK = ["ts", "dur", "In msg nelems", "Out msg nelems", "In msg size (MB)",
             "Out msg size (MB)", "In split size", "Out split size"]  # fmt: skip


def _number(value):
    """None for a missing cell."""
    return None if value is None or value != value else value


def _check(rows, fields, identity, strict, with_values):
    for field in fields:
        values = rows[field].unique()
        if len(values) <= 1:
            continue
        text = f"Metadata mismatch in '{field}' for collective {identity}"
        if with_values:
            text += f": {values}"
        if strict:
            raise ValueError(text)
        logger.warning(text)


def _times(rows):
    starts = [to_ns(ts) for ts in rows["ts"]]
    durations = [to_ns(dur) for dur in rows["dur"]]
    return starts, durations, [start + dur for start, dur in zip(starts, durations)]


def _groups(long):
    return [] if long.empty else long.groupby("collective_id", sort=False)


def implicit_sync(long, simplified, strict):
    made = []
    for identity, rows in _groups(long):
        kind = CLASS_OF.get(rows["Collective name"].iloc[0])
        if (kind == "alltoallv") if simplified else (kind in (None, "alltoallv")):
            continue
        if not simplified:
            _check(rows, _METADATA, identity, strict, True)
        made.append(_implicit_row(identity, rows, kind))
    return pd.DataFrame(made)


def _implicit_row(identity, rows, kind):
    first = rows.iloc[0]
    starts, durations, ends = _times(rows)
    ranks = rows["rank"].tolist()
    waits = [(max(starts) - start) / 1000 for start in starts]
    latency = min(durations) / 1000
    row = {"collective_id": identity, **{field: first[field] for field in _METADATA}}
    size = _number(first["Out msg size (MB)" if kind == "allgather" else "In msg size (MB)"])
    row["Full msg size (MB)"] = size if kind else None
    row["comm_latency"] = latency
    row["skew in start time"] = max(waits)
    row["earliest arrival rank"] = max(zip(waits, ranks))[1]
    row["avg_wait_time"] = sum(waits) / len(waits)
    row["skew in end time"] = (max(ends) - min(ends)) / 1000
    speed = row["Full msg size (MB)"]
    speed = speed / 1024 / (latency / 1e6) if speed is not None and latency > 0 else None
    row["algo bw (GB/s)"] = speed
    members = _number(first["Group size"])
    known = speed is not None and members is not None and kind in _FACTORS
    row["bus bw (GB/s)"] = speed * _factor(kind, members) if known else None
    for rank, ts, dur in zip(ranks, rows["ts"], rows["dur"]):
        row[f"rank_{rank}_ts"], row[f"rank_{rank}_dur"] = ts, dur
    for rank, wait in zip(ranks, waits):
        row[f"rank_{rank}_wait_time"] = wait
    return row


def _factor(kind, members):
    return _FACTORS[kind](members) if members else float("-inf")


def without_ranks(table):
    """The columns about the collective as a whole."""
    return table[[column for column in table.columns if not str(column).startswith("rank_")]]


def uneven_exchanges(long, strict):
    """Of all_to_allv: the largest first."""
    made = []
    for identity, rows in _groups(long):
        if rows["Collective name"].iloc[0] != "all_to_allv":
            continue
        _check(rows, _UNEVEN_METADATA, identity, strict, False)
        made.append(_uneven_row(identity, rows))
    if not made:
        return None
    return pd.DataFrame(made).sort_values(
        "total data communicated (MB)", ascending=False, kind="stable").reset_index(drop=True)  # fmt: skip


def _uneven_row(identity, rows):
    first = rows.iloc[0]
    starts, durations, ends = _times(rows)
    sizes = [_number(size) for size in rows["In msg size (MB)"]]
    known = all(size is not None for size in sizes)
    wall = (max(ends) - min(starts)) / 1000
    rates = [size / 1024 / (dur / 1e9) for size, dur in zip(sizes, durations) if size and dur > 0]
    mean = sum(sizes) / len(sizes) if known else 0
    row = {"collective_id": identity, **{field: first[field] for field in _UNEVEN_METADATA}}
    row["total data communicated (MB)"] = sum(sizes) if known else None
    row["total nelems communicated"] = rows["In msg nelems"].sum()
    row["wall_time (us)"] = wall
    row["max_rank_dur (us)"] = max(durations) / 1000
    row["min_rank_dur (us)"] = min(durations) / 1000
    row["avg_rank_dur (us)"] = sum(durations) / 1000 / len(durations)
    row["throughput (GB/s)"] = sum(sizes) / 1024 / (wall / 1e6) if known and wall > 0 else None
    row["max_rank_throughput (GB/s)"] = max(rates, default=None)
    row["min_rank_throughput (GB/s)"] = min(rates, default=None)
    row["size_imbalance"] = max(sizes) / mean if mean > 0 else None
    row["skew in start time"] = (max(starts) - min(starts)) / 1000
    row["skew in end time"] = (max(ends) - min(ends)) / 1000
    ranks = rows["rank"].tolist()
    for rank, cells in zip(ranks, rows[_PER_RANK].itertuples(index=False, name=None)):
        row.update((f"rank_{rank}_{column}", cell) for column, cell in zip(_PER_RANK, cells))
    for rank, start, end in zip(ranks, starts, ends):
        row[f"rank_{rank}_skew in start time"] = (start - min(starts)) / 1000
        row[f"rank_{rank}_skew in end time"] = (max(ends) - end) / 1000
    return row


def stragglers(sync, long):
    """Who came last, and how long each rank waited; the worst first."""
    waits = [column for column in sync.columns if str(column).endswith("_wait_time")
             and str(column).startswith("rank_")]  # fmt: skip
    if not waits:
        return pd.DataFrame()
    last = sync[waits].idxmin(axis=1)
    busy = long.groupby("rank")["dur"].sum()
    made = []
    for column in waits:
        rank = int(column.split("_")[1])
        came_last = int((last == column).sum())
        made.append({
            "rank": rank,
            "total_wait_time_us": sync[column].sum(),
            "mean_wait_time_us": sync[column].mean(),
            "times_arrived_last": came_last,
            "times_arrived_first": int((sync["earliest arrival rank"] == rank).sum()),
            "pct_arrived_last": 100 * came_last / len(sync),
            "num_collectives": len(sync),
            "total_nccl_dur_us": busy[rank],
        })  # fmt: skip
    table = pd.DataFrame(made)
    for column in ("total_wait_time_us", "mean_wait_time_us", "pct_arrived_last",
                   "total_nccl_dur_us"):  # fmt: skip
        table[column] = table[column].round(1)
    return table.sort_values("total_wait_time_us", kind="stable").reset_index(drop=True)


def split_sizes(cell):
    """The list of an `In split size` cell; None when it is none."""
    if isinstance(cell, tuple):
        return [int(value) for value in cell]
    text = cell.strip() if isinstance(cell, str) else ""
    if not (text.startswith("[") and text.endswith("]")):
        return None
    try:
        return [int(word) for word in text[1:-1].split(",") if word.strip()]
    except ValueError:
        return None


def heatmap(long, bytes_of):
    """How much each rank sent to whom."""
    sent, count = {}, {}
    rows = long[long["Collective name"] == "all_to_allv"] if not long.empty else long
    for row in rows.to_dict("records"):
        sizes, size = split_sizes(row["In split size"]), bytes_of.get(row["dtype"])
        members = _number(row["Group size"])
        if sizes is None or size is None or (members is not None and members != len(sizes)):
            logger.warning("all_to_allv of rank %s left out of the heat map: its split sizes, its "
                           "group or its dtype cannot be told", row["rank"])  # fmt: skip
            continue
        for place, elements in enumerate(sizes):
            pair = (row["rank"], place)
            sent[pair] = sent.get(pair, 0) + elements * size
            count[pair] = count.get(pair, 0) + 1
    if not sent:
        return None
    return pd.DataFrame(
        [{"src_rank": pair[0], "dst_rank": pair[1], "total_sent_MB": sent[pair] / 2**20,
          "avg_sent_MB": sent[pair] / 2**20 / count[pair], "count": count[pair]}
         for pair in sorted(sent)])  # fmt: skip


