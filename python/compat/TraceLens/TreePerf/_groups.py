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


class Groups:
    """Rows of `frame` that agree in the text of `columns`. What it gives has a cell for each group."""

    def __init__(self, frame, columns):
        numbers = np.zeros(len(frame), dtype=np.int64)
        for column in columns:
            codes, found = text_codes(frame[column])
            if len(found) > 1:
                numbers, _ = pd.factorize(numbers * len(found) + codes)
        is_default = frame.index.equals(pd.RangeIndex(len(frame)))
        self.frame = frame if is_default else frame.reset_index(drop=True)
        self.columns = list(columns)
        self.number = numbers
        self.count = int(numbers.max()) + 1 if len(numbers) else 0
        self._order = np.argsort(numbers, kind="stable")  # rows by group
        sizes = np.bincount(numbers, minlength=self.count)
        self._sizes = sizes
        self.first_row = self._order[np.cumsum(sizes) - sizes]
        self._reductions = {}

    def keys(self):
        """The key columns by name, as the first row of each group has them."""
        return {column: self.firsts(column) for column in self.columns}

    def firsts(self, column):
        """The cells of the first rows."""
        return self.frame[column].array[self.first_row]

    def aggregate(self, column, how):
        """`how` is any name or function that pandas takes."""
        values = self.frame[column]
        if not isinstance(how, str) or how not in USUAL or not can_reduce(values):
            return values.groupby(self.number).agg(how).array
        if column not in self._reductions:
            self._reductions[column] = Reductions(
                values.to_numpy(), self.number, self.count, self._order)  # fmt: skip
        return getattr(self._reductions[column], how)()

    def first(self, column):
        """The first cell of each group that is not missing; None where all are."""
        cells = self.frame[column]
        firsts = cells.array[self.first_row]
        if not pd.isna(firsts).any():
            return firsts
        rows = np.flatnonzero(cells.notna().to_numpy())[::-1]
        first = np.full(self.count, -1)
        first[self.number[rows]] = rows  # the one that is written last stays
        return pd.api.extensions.take(cells.to_numpy(), first, allow_fill=True)

    def size(self):
        return self._sizes


def in_order(metrics):
    """The usual aggregates in the order of the report, then any others as they were given."""
    usual = [each for each in AGGREGATES if each in metrics]
    return usual + [each for each in metrics if each not in AGGREGATES and each != "sum"]


def aggregate_name(how):
    return how if isinstance(how, str) else getattr(how, "__name__", str(how))


def longest_first(columns, by):
    """Columns by name as a frame: descending by the first of `by`, then ascending by the others there are."""
    keys = [np.asarray(columns[column]) for column in by if column in columns]
    if any(key.dtype.kind not in "iuf" or np.isnan(key).any() for key in keys):
        made = pd.DataFrame(columns)
        by = [column for column in by if column in columns]
        order = [False] + [True] * (len(by) - 1)
        return made.sort_values(by, ascending=order, kind="stable").reset_index(drop=True)
    rows = np.lexsort([*reversed(keys[1:]), -keys[0]])
    return pd.DataFrame({name: cells[rows] for name, cells in columns.items()})


def add_percentages(frame, column):
    total = frame[column].sum()
    frame["Percentage (%)"] = frame[column] / total * 100 if total else np.nan
    frame["Cumulative Percentage (%)"] = frame["Percentage (%)"].cumsum()
    return frame
