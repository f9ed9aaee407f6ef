"""Groups of rows: by the text of their cells, in the order of their first rows.

Cells of one column are mostly a few objects that many rows share, so a group is found by identity
first, and only the distinct objects are turned into text.
"""

import numpy as np
import pandas as pd
from tracelens import _native

from ._reductions import USUAL, Reductions, can_reduce

AGGREGATES = ("mean", "median", "std", "min", "max")


def _distinct(series):
    """A number per row, equal for equal cells, and one cell for each number."""
    if series.dtype != object:
        codes, cells = pd.factorize(series, use_na_sentinel=False)
        return codes, list(cells)
    cells = series.to_numpy()
    codes, first_rows = _native.identity_codes(cells)
    return codes, cells[first_rows].tolist()


def text_codes(series):
    """Which text each cell has, as a number, and the texts."""
    codes, cells = _distinct(series)
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
    """Rows of `frame` that agree in the text of `columns`."""

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
        self.first_row = np.unique(numbers, return_index=True)[1]
        self._reductions = {}

    def keys(self):
        """One row per group: the key columns as the first row of the group has them."""
        return self.frame[self.columns].iloc[self.first_row].reset_index(drop=True)

    def aggregate(self, column, how):
        """One value per group; `how` is any name or function that pandas takes."""
        values = self.frame[column]
        if not isinstance(how, str) or how not in USUAL or not can_reduce(values):
            return values.groupby(self.number).agg(how).reset_index(drop=True)
        if column not in self._reductions:
            self._reductions[column] = Reductions(values, self.number, self.count)
        return getattr(self._reductions[column], how)()

    def first(self, column):
        """The first cell of each group that is not missing; None where all are."""
        cells = self.frame[column]
        rows = np.flatnonzero(cells.notna().to_numpy())
        groups, at = np.unique(self.number[rows], return_index=True)
        if len(groups) == self.count:
            return cells.iloc[rows[at]].reset_index(drop=True)
        found = cells.iloc[rows[at]].set_axis(groups)
        return found.reindex(range(self.count))

    def size(self):
        return pd.Series(np.bincount(self.number, minlength=self.count))


def in_order(metrics):
    """The usual aggregates in the order of the report, then any others as they were given."""
    usual = [each for each in AGGREGATES if each in metrics]
    return usual + [each for each in metrics if each not in AGGREGATES and each != "sum"]


def aggregate_name(how):
    return how if isinstance(how, str) else getattr(how, "__name__", str(how))


def add_percentages(frame, column):
    total = frame[column].sum()
    frame["Percentage (%)"] = frame[column] / total * 100 if total else np.nan
    frame["Cumulative Percentage (%)"] = frame["Percentage (%)"].cumsum()
    return frame
