"""Groups of rows: by the text of their cells, in the order of their first rows.

Cells of one column are mostly a few objects that many rows share, so a group is found by identity
first, and only the distinct objects are turned into text.
"""

import numpy as np
import pandas as pd
from tracelens import _native

from ._reductions import USUAL, Reductions, can_reduce

AGGREGATES = ("mean", "median", "std", "min", "max")


def distinct(series):
    """A number per row, equal for equal cells, and one cell for each number."""
    if series.dtype != object:
        codes, cells = pd.factorize(series, use_na_sentinel=False)
        return codes, list(cells)
    cells = series.to_numpy()
    codes, first_rows = _native.identity_codes(cells)
    return codes, cells[first_rows].tolist()


def text_codes(series):
    """Which text each cell has, as a number, and the texts."""
    codes, cells = distinct(series)
    numbers = {}
    text_of = [numbers.setdefault(str(cell), len(numbers)) for cell in cells]
    if len(numbers) < len(cells):
        codes = np.array(text_of, dtype=np.int64)[codes]
    return codes, list(numbers)


def texts(series):
    """The cells as texts; equal texts are one object."""
    codes, found = text_codes(series)
    return np.array(found, dtype=object)[codes] if found else np.array([], dtype=object)


def _numbers(frame, columns):
    """The group of each row; groups are numbered by their first rows."""
    numbers, most = np.zeros(len(frame), dtype=np.int64), 1
    for column in columns:
        codes, found = text_codes(frame[column])
        if len(found) > 1:
            if most > 2**62 // len(found):  # rather than overflow
                numbers, distinct_ones = pd.factorize(numbers)
                most = len(distinct_ones)
            numbers, most = numbers * len(found) + codes, most * len(found)
    return pd.factorize(numbers)[0] if most > 1 else numbers


def _missing(cells):
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "fiub":
        return np.isnan(cells) if cells.dtype.kind == "f" else np.zeros(len(cells), dtype=bool)
    return np.asarray(pd.isna(cells))


class Groups:
    """Rows of `frame` that agree in the text of `columns`. What it gives has a cell for each group."""

    def __init__(self, frame, columns):
        is_default = frame.index.equals(pd.RangeIndex(len(frame)))
        self.frame = frame if is_default else frame.reset_index(drop=True)
        self.columns = list(columns)
        self.number = _numbers(self.frame, columns)
        self.count = int(self.number.max()) + 1 if len(self.number) else 0
        self._order = np.argsort(self.number, kind="stable")  # rows by group
        sizes = np.bincount(self.number, minlength=self.count)
        self._sizes = sizes
        self.first_row = self._order[np.cumsum(sizes) - sizes]
        self._cells, self._reductions = {}, {}

    def keys(self):
        """The key columns by name, as the first row of each group has them."""
        return {column: self.firsts(column) for column in self.columns}

    def cells(self, column):
        """A column of the frame as an array: NumPy's, or pandas' where that has no such type."""
        if column not in self._cells:
            values = self.frame[column]
            self._cells[column] = values.to_numpy() if isinstance(values.dtype, np.dtype) else values.array
        return self._cells[column]

    def firsts(self, column):
        """The cells of the first rows."""
        return self.cells(column)[self.first_row]

    def aggregate(self, column, how):
        """`how` is any name or function that pandas takes."""
        values = self.cells(column)
        if not isinstance(how, str) or how not in USUAL or not can_reduce(values):
            return self.frame[column].groupby(self.number).agg(how).array
        if column not in self._reductions:
            self._reductions[column] = Reductions(values, self.number, self.count, self._order)
        return getattr(self._reductions[column], how)()

    def first(self, column):
        """The first cell of each group that is not missing; missing where all are."""
        cells = self.cells(column)
        firsts = cells[self.first_row]
        if not _missing(firsts).any():
            return firsts
        rows = np.flatnonzero(~_missing(cells))[::-1]
        first = np.full(self.count, -1)
        first[self.number[rows]] = rows  # the one that is written last stays
        return pd.api.extensions.take(cells, first, allow_fill=True)

    def size(self):
        return self._sizes


def in_order(metrics):
    """The usual aggregates in the order of the report, then any others as they were given."""
    usual = [each for each in AGGREGATES if each in metrics]
    return usual + [each for each in metrics if each not in AGGREGATES and each != "sum"]


def aggregate_name(how):
    return how if isinstance(how, str) else getattr(how, "__name__", str(how))


def longest_first(columns, by, share_of=None):
    """Columns by name as a frame: descending by the first of `by`, then ascending by the others there are;
    with the percentages of `share_of`, if that is given."""
    keys = [np.asarray(columns[column]) for column in by if column in columns]
    if any(key.dtype.kind not in "iuf" or np.isnan(key).any() for key in keys):
        made = pd.DataFrame(columns)
        by = [column for column in by if column in columns]
        order = [False] + [True] * (len(by) - 1)
        made = made.sort_values(by, ascending=order, kind="stable").reset_index(drop=True)
        return made if share_of is None else add_percentages(made, share_of)
    rows = np.lexsort([*reversed(keys[1:]), -keys[0]])
    made = {name: cells[rows] for name, cells in columns.items()}
    return pd.DataFrame(made if share_of is None else with_percentages(made, share_of))


def with_percentages(columns, share_of):
    """Columns by name, and after them what each cell of one has of its sum, alone and with those before."""
    cells = np.asarray(columns[share_of], dtype=np.float64)
    missing = np.isnan(cells)
    known = np.where(missing, 0.0, cells)
    total = known.sum()
    shares = cells / total * 100 if total else np.full(len(cells), np.nan)
    so_far = np.where(np.isnan(shares), 0.0, shares).cumsum()
    so_far[np.isnan(shares)] = np.nan
    return {**columns, "Percentage (%)": shares, "Cumulative Percentage (%)": so_far}


def add_percentages(frame, column):
    columns = with_percentages({column: frame[column].to_numpy()}, column)
    for name in ("Percentage (%)", "Cumulative Percentage (%)"):
        frame[name] = columns[name]
    return frame
