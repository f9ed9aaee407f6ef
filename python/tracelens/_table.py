"""Tables: the shape in which answers leave TraceLens."""

from __future__ import annotations

import os
from collections import namedtuple
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, NamedTuple, Sequence

from tracelens import _native
from tracelens._arrow import ArrowStream
from tracelens._errors import UsageError
from tracelens._places import output_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd


class Column(NamedTuple):
    """What a column means."""

    name: str
    kind: str  #: "text", "integer", "real", "bool" or "nested"
    unit: str = ""
    description: str = ""


class Table(ArrowStream):
    """Rows under named, typed columns with units. Never changes: ``sort`` and others give a new one.

    >>> import tracelens as tl
    >>> ops = tl.table_of_rows("ops", [Column("name", "text"), Column("time", "real", "ms")],
    ...                        [("aten::mm", 12.5), ("aten::add", None)])
    >>> len(ops), ops.columns[1].unit
    (2, 'ms')
    >>> ops["time"]
    array([12.5,  nan])
    >>> [row.name for row in ops.where(name="aten::mm")]
    ['aten::mm']
    """

    __slots__ = ("_native", "__weakref__")

    def __init__(self, native: _native.Table) -> None:
        self._native = native

    # --- what it is about ---
    @property
    def name(self) -> str:
        """What the report calls it."""
        return self._native.name

    @property
    def description(self) -> str:
        """What it says, in a line."""
        return self._native.description

    @property
    def columns(self) -> list[Column]:
        """Name, kind, unit and description of each column."""
        return [Column(*column) for column in self._native.columns]

    def __len__(self) -> int:
        return len(self._native)

    # --- cells ---
    def __getitem__(self, column: str) -> npt.NDArray[Any]:
        """A column as a NumPy array.

        Reals have NaN where a cell is missing, integers and truth values are masked where one is; texts
        and nested cells are objects, None where missing. Numbers are not copied and cannot be changed.
        """
        import numpy as np

        place = self._place(column)
        kind, values = self._native.column(place)
        if kind in ("text", "nested"):
            cells = np.empty(len(values), dtype=object)
            for row, cell in enumerate(values):
                cells[row] = cell
            return cells
        array: npt.NDArray[Any] = values.astype(np.bool_) if kind == "bool" else values
        if kind == "real":
            return array
        present = self._native.present(place)
        if present.all():
            return array
        masked: npt.NDArray[Any] = np.ma.MaskedArray(array, present == 0)  # type: ignore[no-untyped-call]
        return masked

    def cells(self, column: str) -> list[Any]:
        """A column as a list of plain Python objects, None where a cell is missing."""
        return self._cells_at(self._place(column))

    def _cells_at(self, place: int) -> list[Any]:
        kind, values = self._native.column(place)
        if kind in ("text", "nested"):
            return list(values)
        present = self._native.present(place).tolist()
        plain = values.astype(bool).tolist() if kind == "bool" else values.tolist()
        return [value if there else None for value, there in zip(plain, present)]

    def __iter__(self) -> Iterator[Any]:
        """Rows as named tuples; a column whose name is no identifier is ``_1``, ``_2`` ... there."""
        names = [column.name for column in self.columns]
        row = namedtuple("Row", names, rename=True)  # type: ignore[misc]
        return map(row._make, zip(*map(self._cells_at, range(len(names))))) if names else iter(())

    def __contains__(self, column: object) -> bool:
        return any(column == each.name for each in self.columns)

    # --- other tables ---
    def sort(self, by: str | Sequence[str], descending: bool | Sequence[bool] = False) -> Table:
        """The rows in order of these columns; stable, missing cells last."""
        keys = [by] if isinstance(by, str) else list(by)
        orders = [descending] * len(keys) if isinstance(descending, bool) else list(descending)
        if len(orders) != len(keys):
            raise UsageError("descending: expected one truth value, or one for each column")
        return Table(self._native.sorted(list(zip(keys, orders))))

    def head(self, n: int = 10) -> Table:
        """The first rows."""
        return self._take(range(min(max(n, 0), len(self))))

    def where(
        self,
        condition: Callable[[Any], object] | Iterable[object] | None = None,
        /,
        **equals: object,
    ) -> Table:
        """The rows for which all of it holds.

        ``condition`` is a function of a row, or one truth value per row, such as a comparison of columns
        gives; keywords are columns with the value they must have, or a list of such values.
        """
        keep = [True] * len(self)
        if callable(condition):
            keep = [bool(condition(row)) for row in self]
        elif condition is not None:
            keep = [bool(value) for value in condition]
            if len(keep) != len(self):
                raise UsageError(f"where: {len(keep)} truth values for {len(self)} rows")
        for column, wanted in equals.items():
            values = wanted if isinstance(wanted, (list, set, frozenset)) else [wanted]
            cells = self.cells(column)
            keep = [kept and cell in values for kept, cell in zip(keep, cells)]
        return self._take([row for row, kept in enumerate(keep) if kept])

    def _take(self, rows: Sequence[int]) -> Table:
        import numpy as np

        return Table(self._native.take(np.asarray(rows, dtype=np.int64)))

    # --- other libraries and files ---
    def to_pandas(self, *, nullable: bool = False) -> pd.DataFrame:
        """As a pandas frame; nested cells are tuples, lists and dicts.

        Integers with missing cells are float64, or Int64 if ``nullable``. ``frame.attrs["units"]`` says
        the units.
        """
        from tracelens._frames import frame

        return frame(self._native, nullable=nullable)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """For libraries that speak Arrow: one batch; nested cells are JSON texts."""
        return _native.table_stream(self._native)

    def to_csv(self, path: str | os.PathLike[str] | None = None, *, raw: bool = False) -> str | None:
        """The table as CSV text, or into a file.

        In a file, texts that a spreadsheet would run as formulas get a ``'`` in front, unless ``raw``.
        """
        if path is None:
            return self._native.csv()
        self._native.write(output_of(path), raw=raw)
        return None

    # --- people ---
    def __repr__(self) -> str:
        import shutil

        width = shutil.get_terminal_size((100, 24)).columns
        return self._native.text(width=width, rows=20).rstrip("\n")

    def _repr_html_(self) -> str:
        from tracelens._html import table_html

        return table_html(self._native)

    # --- pickles, by value ---
    def __reduce__(self) -> tuple[Any, ...]:
        columns = [tuple(column) for column in self.columns]
        cells = [self._cells_at(place) for place in range(len(columns))]
        return (_restored, (self.name, self.description, columns, len(self), cells))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        if self._native is other._native:
            return True
        return self.__reduce__() == other.__reduce__()

    __hash__ = None  # type: ignore[assignment]

    def _place(self, name: str) -> int:
        for place, column in enumerate(self._native.columns):
            if column[0] == name:
                return place
        raise KeyError(name)


def _restored(
    name: str,
    description: str,
    columns: list[tuple[str, str, str, str]],
    rows: int,
    cells: list[list[Any]],
) -> Table:
    by_row: Iterable[Any] = zip(*cells) if cells else ((),) * rows
    return Table(_native.table_of_rows(name, description, columns, by_row))


def table_of_rows(
    name: str, columns: Sequence[Column], rows: Iterable[Sequence[Any]], description: str = ""
) -> Table:
    """A table of one's own: None is a missing cell.

    >>> table_of_rows("one", [Column("n", "integer")], [(1,), (None,)]).cells("n")
    [1, None]
    """
    return Table(_native.table_of_rows(name, description, [tuple(c) for c in columns], rows))
