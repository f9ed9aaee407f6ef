"""Launchers: the ops, or else the calls, that GPU work is charged to."""

import re
from itertools import count

import pandas as pd

from ..Trace2Tree._kinds import GPU, PYTHON, busy_us, is_communication
from ._overlap import overlap_fields

ARGUMENTS = ["Input Dims", "Input type", "Input Strides", "Concrete Inputs"]
_NUMBER = re.compile(r"_\d+")


def gpu_events(analyzer):
    """The GPU events that count: linked to a launch, or all."""
    category, everything = analyzer.event_to_category, analyzer.include_unlinked_kernels
    return [event for event in analyzer.tree.events
            if category(event) in GPU and (everything or event.get("tree"))]  # fmt: skip


def _launcher_of(tree, launch):
    above = tree.get_parent_event(launch)
    while above is not None:
        category = tree.event_to_category(above)
        if category == "cpu_op" and above["name"] != "execute":
            return above
        if category not in ("cpu_op", PYTHON):
            break
        above = tree.get_parent_event(above)
    return launch


def find_launchers(analyzer, include_nccl=False):
    """The launchers by start, with their own GPU work written onto them."""
    tree = analyzer.tree
    analyzer.compute_overlapping_kernels(gpu_events(analyzer))
    kernels_of, launchers = {}, {}
    for event in tree.events:
        if tree.event_to_category(event) not in GPU or event.get("parent") is None:
            continue
        if not include_nccl and is_communication(event["name"]):
            continue
        launcher = _launcher_of(tree, tree.get_parent_event(event))
        launchers[launcher["UID"]] = launcher
        kernels_of.setdefault(launcher["UID"], []).append(event)
    found = sorted(launchers.values(), key=start_of)
    for launcher in found:
        _write(analyzer, launcher, kernels_of[launcher["UID"]])
    analyzer._native.note_launchers(found)
    return found


def start_of(event):
    """Ops that a program made up may have none: they come first."""
    start = event.get("ts")
    return float("-inf") if start is None else start


def _write(analyzer, launcher, kernels):
    tree = analyzer.tree
    launcher["total_direct_kernel_time"] = busy_us(kernels)
    launcher["total_subtree_kernel_time"] = busy_us(tree.get_gpu_events(launcher))
    launcher["direct_kernel_count"] = len(kernels)
    launcher["kernel_details"] = details_of(kernels)
    launcher["op category"] = analyzer.op_categorizer(launcher)
    names, details, share = overlap_fields(tree, kernels)
    launcher["overlapping_kernel_names"] = names
    launcher["overlapping_kernels_details"] = details
    launcher["overlap_pct"] = share


def details_of(kernels, with_uid=False, by_start=True):
    if by_start:
        kernels = sorted(kernels, key=start_of)
    made = []
    for kernel in kernels:
        made.append({"name": kernel["name"], "dur": kernel["dur"],
                     "stream": (kernel.get("args") or {}).get("stream")})  # fmt: skip
        if with_uid:
            made[-1]["gpu_op_uid"] = kernel["UID"]
    return made


def as_tuple(value):
    """Lists of lists as tuples of tuples: cells that can be compared and hashed."""
    return tuple(map(as_tuple, value)) if isinstance(value, (list, tuple)) else value


class Names:
    """What processes and threads are called."""

    def __init__(self, metadata):
        self._metadata = metadata
        self._found = {}

    def of(self, event):
        key = (event.get("pid"), event.get("tid"))
        if key not in self._found:
            process = self._metadata.get(key[0], {})
            whole = process.get(0) or process.get(None) or {}
            thread = process.get(key[1]) or {}
            self._found[key] = (
                whole.get("process_name", "Unknown"),
                whole.get("process_labels", "Unknown"),
                thread.get("thread_name", "Unknown"),
            )
        return self._found[key]


def launcher_rows(
    analyzer,
    launchers,
    id_cols=False,
    include_kernel_details=False,
    include_call_stack=False,
    include_first_occurrence_time=False,
    args_cols=None,
):
    names = Names(analyzer.tree.metadata)
    tuples = {}
    rows = []
    for event in launchers:
        args = event.get("args") or {}
        row = {key: event.get(key) for key in (
            "name", "op category", "UID", "total_direct_kernel_time", "total_subtree_kernel_time",
            "direct_kernel_count", "overlapping_kernel_names", "overlapping_kernels_details",
            "overlap_pct")}  # fmt: skip
        if include_first_occurrence_time:
            row["ts"] = event.get("ts")
        for column in ARGUMENTS if args_cols is None else args_cols:
            row[column] = _shared(tuples, args.get(column))
        if id_cols:
            row["pid"], row["tid"] = event.get("pid"), event.get("tid")
            row["external_id"] = args.get("External id")
        if include_kernel_details:
            row["kernel_details"] = event["kernel_details"]
            row["num_kernels"] = len(event["kernel_details"])
            if include_call_stack:
                stack = analyzer.tree.traverse_parents_and_get_callstack(
                    event, filter=("nn.Module",))  # fmt: skip
                row["call_stack"] = stack
                row["parent_module"] = _NUMBER.sub("", stack[1]) if len(stack) > 1 else "NA"
        row["process_name"], row["process_label"], row["thread_name"] = names.of(event)
        if analyzer.detect_recompute:
            row["is_recompute"] = bool(event.get("is_recompute", False))
        rows.append(row)
    return pd.DataFrame(rows)


def _shared(tuples, value):
    """One tuple object for equal lists."""
    if not isinstance(value, (list, tuple)):
        return value
    made = as_tuple(value)
    return tuples.setdefault(repr(made), made)


def next_uids(tree):
    """UIDs that no event has."""
    return count(max(tree.events_by_uid, default=-1) + 1)
