"""Traces that are put together or changed in Python."""

from __future__ import annotations

from typing import Any, Iterable, Mapping, Sequence

from tracelens import _native
from tracelens._checks import event_number, text, whole
from tracelens._errors import UsageError
from tracelens._trace import Origin, Trace

_MEMBERS = {"name": "name", "category": "cat"}
_TIMES_NS = {"ts_ns": "ts", "dur_ns": "dur"}


def from_events(
    events: Iterable[Mapping[str, Any]],
    *,
    name: str = "memory",
    metadata: Mapping[str, Any] | None = None,
) -> Trace:
    """A trace of dictionaries as `traceEvents` of a file has them.

    >>> import tracelens as tl
    >>> t = tl.from_events([{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 1, "dur": 2}])
    >>> len(t)
    1
    """
    rest = None if metadata is None else dict(metadata)
    return Trace(_native.from_events([dict(e) for e in events], name=name, metadata=rest), Origin())


class Edit:
    """Changes to a trace, one after the other. The trace itself stays as it is.

    >>> import tracelens as tl
    >>> t = tl.from_events([{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 1, "dur": 2}])
    >>> edit = t.edit()
    >>> edit.rename(0, "my::mm")
    >>> made = edit.insert_op(above=0, name="my::layer", dims=[[8, 16]], types=["float"])
    >>> len(edit.trace()), made
    (2, 1)
    """

    def __init__(self, trace: Trace, python_frames: bool = True) -> None:
        self._store = _native.EventStore(trace._native, python_frames=python_frames)

    def rename(self, uid: int, name: str) -> None:
        """Gives an event another name."""
        self._event(uid)["name"] = text("rename", name, "a name")

    def set(self, uid: int, **fields: Any) -> None:
        """Sets `name`, `category`, `ts_ns`, `dur_ns`; any other field is an argument of the event.

        Arguments whose names are no words are given as `**{"Input Dims": [[8, 16]]}`; None takes an
        argument away.
        """
        event = self._event(uid)
        for field, value in fields.items():
            if field in _MEMBERS:
                event[_MEMBERS[field]] = text(field, value, "a text")
            elif field in _TIMES_NS:
                number = whole(field, value, "whole nanoseconds", least=0 if field == "dur_ns" else -(2**63))
                event[_TIMES_NS[field]] = number / 1000
            elif value is None:
                event.get("args", {}).pop(field, None)
            else:
                event.setdefault("args", {})[field] = value

    def insert_op(
        self,
        *,
        above: int,
        name: str,
        dims: Sequence[Any] = (),
        types: Sequence[str] = (),
        strides: Sequence[Any] = (),
        concrete: Sequence[str] = (),
    ) -> int:
        """Puts an op between an event and its caller; returns the number of the op."""
        below = self._event(above)
        events = self._store.events
        made: dict[str, Any] = {"ph": "X", "cat": "cpu_op", "name": text("name", name, "a name"),
                                "UID": len(events)}  # fmt: skip
        made.update({key: below[key] for key in ("pid", "tid", "ts", "dur") if key in below})
        given = {"Input Dims": dims, "Input type": types, "Input Strides": strides,
                 "Concrete Inputs": concrete}  # fmt: skip
        for value in given.values():
            if isinstance(value, str) or not hasattr(value, "__len__"):
                raise UsageError(f"insert_op: expected a list with one value per argument, got {value!r}")
        for each in types:
            text("types", each, "names of types")
        made["args"] = {key: list(value) for key, value in given.items() if len(value) > 0}
        made["children"] = [below["UID"]]
        if "parent" in below:
            made["parent"] = below["parent"]
            siblings = self._store.event(below["parent"])["children"]
            siblings[siblings.index(below["UID"])] = made["UID"]
        below["parent"] = made["UID"]
        self._store.events_by_uid[made["UID"]] = made
        events.append(made)
        return len(events) - 1

    def trace(self) -> Trace:
        """The trace with all changes so far."""
        return Trace(self._store.synced(), Origin())

    def _event(self, uid: int) -> dict[str, Any]:
        try:
            event: dict[str, Any] = self._store.event(event_number("event", uid))
        except KeyError:
            raise UsageError(f"the trace has no event {uid}") from None
        return event
