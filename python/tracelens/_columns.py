"""The events of a trace as columns."""

from __future__ import annotations

import operator
import re
from typing import TYPE_CHECKING, Any, Callable, Iterator, NamedTuple, Sequence, overload

from tracelens import _native
from tracelens._arrow import ArrowStream
from tracelens._errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from tracelens._native import TraceEvent as Event

NUMBERS = ("ts_ns", "dur_ns", "correlation")  #: dense; ABSENT where an event has none
CODES = ("name", "cat", "phase", "track", "signature")  #: dense; numbers that stand for something
SPARSE = ("external_id", "sequence", "forward_thread", "stream", "device")  #: few events have them


def _row(key: Any) -> int:
    try:
        return operator.index(key)
    except TypeError:
        raise TypeError(
            f"events: expected the name of a column or the row of one event, not {type(key).__name__}; "
            'of several rows take a column, as in events["dur_ns"][rows], or events.to_pandas()'
        ) from None


class Codes(NamedTuple):
    """A column of few distinct things: ``categories[codes[row]]`` is what the event has.

    A code that is no place in the list (the largest there is) means that the event has none.
    """

    codes: npt.NDArray[Any]
    categories: list[Any]


class Sparse(NamedTuple):
    """A column that few events have: their row numbers, ascending, and their values."""

    rows: npt.NDArray[np.uint32]
    values: npt.NDArray[np.int64]


class Columns(ArrowStream):
    """The events of a trace in the order of the file, column by column, without a copy.

    >>> import tracelens as tl
    >>> events = tl.demo().events
    >>> events["dur_ns"].flags.writeable
    False
    >>> rows = events.where(cat="kernel", name=re.compile("nvjet"))
    >>> int(events["dur_ns"][rows].sum()) > 0
    True
    >>> events[int(rows[0])].category
    'kernel'
    """

    def __init__(self, native: _native.Trace, view: _native.TraceView) -> None:
        self._native = native
        self._view = view

    @property
    def columns(self) -> list[str]:
        """The names of all columns."""
        return [*NUMBERS, *CODES, *SPARSE]

    def __len__(self) -> int:
        return len(self._native)

    @overload
    def __getitem__(self, key: str) -> Any: ...

    @overload
    def __getitem__(self, key: int) -> Event: ...

    def __getitem__(self, key: str | int) -> Any:
        """A column by its name, or one event by its row.

        Numbers are a read-only array over the trace's memory, things that repeat ``Codes``, and what few
        events have is ``Sparse``.
        """
        if not isinstance(key, str):
            row = _row(key)
            return self._view.event(row + len(self) if row < 0 else row)
        if key in SPARSE:
            return Sparse(*_native.sparse_column(self._native, key))
        if key in CODES:
            return self._codes(key)
        return _native.column(self._native, key)

    def __iter__(self) -> Iterator[Event]:
        return map(self._view.event, range(len(self)))

    def mask(self, column: str) -> npt.NDArray[np.bool_]:
        """True where an event does not have the number."""
        import numpy as np

        if column in SPARSE:
            missing = np.ones(len(self), dtype=np.bool_)
            missing[self[column].rows] = False
            return missing
        if column in CODES:
            codes, categories = self._codes(column)
            return np.asarray(codes >= len(categories))
        return np.asarray(_native.column(self._native, column) == _native.ABSENT)

    def dense(self, column: str, missing: int = -1) -> npt.NDArray[np.int64]:
        """A sparse column as an array with a number for every event (a copy).

        >>> import tracelens as tl
        >>> streams = tl.demo().events.dense("stream")
        >>> int(streams.min())
        -1
        """
        import numpy as np

        sparse = Sparse(*_native.sparse_column(self._native, column))
        values = np.full(len(self), missing, dtype=np.int64)
        values[sparse.rows] = sparse.values
        return values

    def where(
        self,
        *,
        cat: str | Sequence[str] | None = None,
        name: str | Sequence[str] | re.Pattern[str] | Callable[[str], object] | None = None,
        from_ns: int | None = None,
        to_ns: int | None = None,
        longer_than_ns: int | None = None,
    ) -> npt.NDArray[np.int64]:
        """The row numbers of the events for which all of it holds, ascending.

        name: one name, several, a compiled regular expression that is searched in it, or a function;
        either is asked once per distinct name. from_ns, to_ns: of the start, the second one excluded.
        """
        names: Any = name
        if isinstance(name, str):
            names = [name]
        elif isinstance(name, re.Pattern):
            names = name.search
        elif name is not None and not callable(name):
            names = list(name)
        return _native.where(
            self._native,
            categories=[cat] if isinstance(cat, str) else None if cat is None else list(cat),
            names=names,
            from_ns=from_ns,
            to_ns=to_ns,
            longer_than_ns=longer_than_ns,
        )

    def to_pandas(self, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """A frame of these columns, or all; names and the like are pandas' Categoricals.

        Numbers with gaps are Int64.

        >>> import tracelens as tl
        >>> list(tl.demo().events.to_pandas(["name", "dur_ns"]).dtypes.astype(str))
        ['category', 'Int64']
        """
        import pandas as pd

        wanted = self.columns if columns is None else list(columns)
        if unknown := set(wanted) - set(self.columns):
            raise UsageError(f"{unknown.pop()}: events have no such column")
        data = {name: self._series(name) for name in wanted}
        return pd.DataFrame(data, index=pd.RangeIndex(len(self)), copy=False)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """For libraries that speak Arrow: all columns in batches; times and ids are not copied."""
        return _native.event_stream(self._native, self.columns)

    def _series(self, name: str) -> Any:
        import numpy as np
        import pandas as pd

        if name in CODES:
            codes, categories = self._codes(name)
            used, places = np.unique(codes, return_inverse=True)
            there = used < len(categories)
            kept = np.full(len(used), -1, dtype=np.int32)
            kept[there] = np.arange(int(there.sum()), dtype=np.int32)
            labels = pd.Index([categories[code] for code in used[there]], tupleize_cols=False)
            return pd.Categorical.from_codes(kept[places], labels)
        missing = self.mask(name)
        values = self.dense(name) if name in SPARSE else _native.column(self._native, name).copy()
        return pd.arrays.IntegerArray(values, missing) if missing.any() else values

    def _codes(self, name: str) -> Codes:
        codes = _native.column(self._native, name)
        if name == "name":
            return Codes(codes, _native.name_texts(self._native))
        if name == "phase":
            return Codes(codes, list(_native.phase_names()))
        if name == "track":
            return Codes(codes, _native.tracks(self._native))
        if name == "signature":
            return Codes(codes, _native.signatures(self._native))
        return self._categories(codes)

    def _categories(self, codes: npt.NDArray[Any]) -> Codes:
        """Categories that TraceLens has no number for get one each, in a copy of the column."""
        import numpy as np

        names = _native.category_names()
        others = _native.other_categories(self._native)
        if not others:
            return Codes(codes, names)
        numbers = {text: place for place, text in enumerate(names)}
        widened = codes.astype(np.uint32)
        for row, text in others:
            widened[row] = numbers.setdefault(text, len(numbers))
        return Codes(widened, list(numbers))

    def __repr__(self) -> str:
        return f"Columns({len(self):,} events: {', '.join(self.columns)})"
