"""The native tree of a TraceToTree."""

import json

_RAW = frozenset(("ph", "cat", "name", "pid", "tid", "ts", "dur", "id", "bp", "s", "args"))


def native_tree(tree):
    """(tree, UIDs of its events by row); None for UIDs that are row numbers."""
    trace = tree.native_trace()
    uids = tree._source.uids() if trace is not None else None
    if trace is None:
        trace = _of_dictionaries(tree)
    return trace.tree(python_frames=tree.add_python_func), uids


def _of_dictionaries(tree):
    """Of a tree that was made from a list: its events are read as if they stood in a file."""
    from tracelens import _native

    events = [{key: value for key, value in event.items() if key in _RAW and value is not None}
              for event in tree.events]  # fmt: skip
    document = json.dumps({"schemaVersion": 1, "traceEvents": events}, default=str)
    return _native.read_bytes(document.encode(), name="memory")
