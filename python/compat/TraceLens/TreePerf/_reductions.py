"""The usual aggregates of numbers by group, without pandas' cost per call."""

import math

import numpy as np
import pandas as pd


class Reductions:
    """Of one column: groups are numbered from 0; missing values do not count."""

    def __init__(self, values, numbers, count):
        values = np.asarray(values)
        if values.dtype.kind == "f":
            known = ~np.isnan(values)
            if not known.all():
                values, numbers = values[known], numbers[known]
        order = np.argsort(numbers, kind="stable")
        self._values, self._numbers = values[order], numbers[order]
        self._sizes = np.bincount(numbers, minlength=count)
        self._count = count
        self._exact = None
        self._starts = np.flatnonzero(np.r_[True, np.diff(self._numbers) != 0]) if len(values) else []
        self._found = self._numbers[self._starts] if len(values) else []

    def _spread(self, reduced, missing):
        """A value per group, also for groups without any."""
        if len(self._found) == self._count:
            return pd.Series(reduced)
        cells = np.full(self._count, missing, dtype=np.result_type(reduced, type(missing)))
        cells[self._found] = reduced
        return pd.Series(cells)

    def _reduce(self, function):
        return function.reduceat(self._values, self._starts) if len(self._found) else np.array([])

    def _sums(self):
        """Exactly rounded: equal sums must be equal, or rows that tie change places."""
        if self._exact is None:
            if self._values.dtype.kind == "f":
                values, ends = self._values.tolist(), [*self._starts[1:], len(self._values)]
                self._exact = np.array([math.fsum(values[a:b]) for a, b in zip(self._starts, ends)])
            else:
                self._exact = self._reduce(np.add)
        return self._exact

    def sum(self):
        return self._spread(self._sums(), 0)

    def min(self):
        return self._spread(self._reduce(np.minimum), np.nan)

    def max(self):
        return self._spread(self._reduce(np.maximum), np.nan)

    def mean(self):
        return self._spread(self._sums() / self._sizes[self._found], np.nan)

    def _squares(self):
        """The summed squares of distances from the mean."""
        sizes = self._sizes[self._found]
        means = np.repeat(self._sums() / sizes, sizes)
        squares = (self._values - means) ** 2
        return np.add.reduceat(squares, self._starts) if len(self._found) else np.array([])

    def std(self):
        sizes = self._sizes[self._found]
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._spread(np.where(sizes > 1, np.sqrt(self._squares() / (sizes - 1)), np.nan), np.nan)

    def population_std(self):
        return self._spread(np.sqrt(self._squares() / self._sizes[self._found]), np.nan)

    def median(self):
        ordered = self._values[np.lexsort((self._values, self._numbers))]
        sizes = self._sizes[self._found]
        low = np.asarray(self._starts, dtype=np.int64) + (sizes - 1) // 2
        high = np.asarray(self._starts, dtype=np.int64) + sizes // 2
        return self._spread((ordered[low] + ordered[high]) / 2, np.nan)


USUAL = frozenset(("sum", "min", "max", "mean", "std", "median"))


def can_reduce(values):
    return values.dtype.kind in "if" and isinstance(values.dtype, np.dtype)
