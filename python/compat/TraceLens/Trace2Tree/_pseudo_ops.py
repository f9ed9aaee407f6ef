"""The core's pseudo ops in a tree that the program holds: of a list, or of a file that it may have changed."""

import json
import os
import tempfile

_RECORDED = ("ph", "cat", "name", "pid", "tid", "ts", "dur", "id", "bp", "s", "args")
_LINKS = ("name", "parent", "children", "gpu_events", "cpu_op_root", "non_gpu_path")


def add_to(tree):
    """Asks the core about the recorded members of the events, and makes the same changes to the tree."""
    with tempfile.TemporaryDirectory() as folder:  # the core reads arguments when they are looked at
        _add_differences(tree, *_without_and_with(tree, os.path.join(folder, "events.json")))


def _add_differences(tree, before, after):
    if len(before.events) != len(tree.events):
        raise ValueError("pseudo ops: the core does not take all events of this tree")
    events = list(tree.events)
    for mine, old, new in zip(events, before.events, after.events):
        for key in _LINKS:
            if old.get(key) == new.get(key):
                continue
            if key in new:
                mine[key] = new[key]
            else:
                mine.pop(key, None)
    for new in after.events[len(events):]:
        made = dict(new)
        tree.events.append(made)
        tree.events_by_uid[made["UID"]] = made
    gone = set(before.cpu_root_nodes) - set(after.cpu_root_nodes)
    come = [uid for uid in after.cpu_root_nodes if uid not in set(before.cpu_root_nodes)]
    tree.cpu_root_nodes[:] = [uid for uid in tree.cpu_root_nodes if uid not in gone] + come


def _without_and_with(tree, path):
    from tracelens import _native

    recorded = [{key: event[key] for key in _RECORDED if event.get(key) is not None} for event in tree.events]
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"traceEvents": recorded}, file)
    frames = tree.add_python_func
    return [
        _native.EventStore(
            _native.scripts.prepared_trace(path, pseudo_ops=wanted, python_frames=frames),
            python_frames=frames, mark_non_gpu_paths=tree.prune_nongpu_paths, link_fwd_bwd=True)
        for wanted in (False, True)
    ]  # fmt: skip
