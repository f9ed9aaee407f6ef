"""Values that users give, checked before the core sees them."""

from __future__ import annotations

import operator
from typing import Any

from tracelens._errors import UsageError

MOST_THREADS = 1024


def whole(what: str, value: Any, expected: str, *, least: int = 0, most: int = 2**63 - 1) -> int:
    """A whole number in these limits, of any type that is one (NumPy's too)."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or not least <= number <= most:
        raise UsageError(f"{what}: expected {expected}, got {value!r}")
    return number


def text(what: str, value: Any, expected: str) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{what}: expected {expected}, got {value!r}")
    return value


def thread_count(threads: Any) -> int:
    return whole("threads", threads, f"0 (one per core) to {MOST_THREADS}", most=MOST_THREADS)


def event_number(what: str, uid: Any) -> int:
    return whole(what, uid, "the number of an event, from 0")
