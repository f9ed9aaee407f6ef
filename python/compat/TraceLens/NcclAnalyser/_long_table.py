"""One row per collective kernel and rank, and which kernels of several ranks are one collective."""

import re

import pandas as pd

from ..Trace2Tree._kinds import is_communication, to_ns

DTYPE_BYTES = {"Float": 4, "Int": 4, "Long": 8, "BFloat16": 2, "Bool": 1, "Byte": 1, "Double": 8,
               "Half": 2, "Short": 2}  # fmt: skip
_ARGS = ("Process Group Name", "Process Group Ranks", "Collective name", "Group size", "dtype",
         "In msg nelems", "Out msg nelems", "In split size", "Out split size", "stream")  # fmt: skip
COLUMNS = ["collective_id", "index_in_group", "rank", "Process Group Name", "Process Group Ranks",
           "Collective name", "Group size", "dtype", "In msg nelems", "In msg size (MB)",
           "Out msg nelems", "Out msg size (MB)", "In split size", "Out split size", "stream",
           "ts", "dur"]  # fmt: skip
DEFAULT_PATTERNS = [("cross_device_reduce", "allreduce")]


def is_collective(event):
    args = event.get("args") or {}
    return (
        event.get("cat") == "kernel"
        and is_communication(event.get("name", ""))
        and (args.get("correlation") is not None or args.get("External id") is not None)
    )


def _tuples(value):
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def collective_row(event, rank, patterns):
    args = event["args"]
    row = {"rank": rank, "ts": event["ts"], "dur": event["dur"]}
    row.update((key, _tuples(args.get(key))) for key in _ARGS)
    if row["Collective name"] is None:
        row["Collective name"] = next(
            (name for regex, name in patterns if re.search(regex, event["name"], re.IGNORECASE)),
            None)  # fmt: skip
    size = DTYPE_BYTES.get(row["dtype"])
    known = size is not None and row["In msg nelems"] is not None
    for side in ("In", "Out"):
        count = row[f"{side} msg nelems"]
        row[f"{side} msg size (MB)"] = count * size / 2**20 if known and count is not None else None
    return row


def is_simplified(rows):
    """Kernels without process groups, on one stream of each rank: matched by position alone."""
    streams = {}
    for row in rows:
        if row["Process Group Name"] not in (None, "Unknown_Group"):
            return False
        if row["stream"] is not None:
            streams.setdefault(row["rank"], set()).add(row["stream"])
    return all(len(found) <= 1 for found in streams.values())


def long_table(rows, simplified):
    """`rows` in file order, rank after rank; the n-th kernel of a group is one collective."""
    if not rows:
        return pd.DataFrame()
    for row in rows:
        group = row["Process Group Name"]
        row["Process Group Name"] = (
            "all" if simplified else "Unknown_Group" if group is None else str(group))  # fmt: skip
    numbers = {}
    for at in sorted(range(len(rows)), key=lambda at: to_ns(rows[at]["ts"])):
        row = rows[at]
        domain = row["rank"] if simplified else (row["Process Group Name"], row["rank"])
        number = numbers.get(domain, 0)
        numbers[domain] = number + 1
        row["index_in_group"] = number
        row["collective_id"] = (
            str(number) if simplified else f"{row['Process Group Name']}_{number}")  # fmt: skip
    return pd.DataFrame(rows, columns=COLUMNS)


def native_long_table(paths):
    """The same by the core, for the usual patterns; None when it cannot read a file."""
    from tracelens import Error, _native
    from tracelens._frames import frame

    try:
        made = frame(_native.collective_rows(paths), none_is_object=True)
    except Error:
        return None
    made.attrs = {}
    return made[COLUMNS] if len(made) else pd.DataFrame()
