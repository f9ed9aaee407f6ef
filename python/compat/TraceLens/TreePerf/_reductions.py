"""The usual aggregates of numbers by group, without pandas' cost per call."""

import math

import numpy as np


class Reductions:
    """Of one column: groups are numbered from 0; missing values do not count."""

    def __init__(self, values, numbers, count, order=None):
        """`order`: the rows by group, where that is known already."""
        values = np.asarray(values)
        if values.dtype.kind == "f":
            missing = np.isnan(values)
            if missing.any():
                values, numbers, order = values[~missing], numbers[~missing], None
        if order is None:
            order = np.argsort(numbers, kind="stable")
        self._values, self._numbers = values[order], numbers[order]
        self._sizes = np.bincount(numbers, minlength=count)
        self._count = count
        self._exact = None
        self._found = np.flatnonzero(self._sizes)
        self._starts = (np.cumsum(self._sizes) - self._sizes)[self._found]

    def _spread(self, reduced, missing):
        """A value per group, also for groups without any."""
        if len(self._found) == self._count:
            return reduced
        cells = np.full(self._count, missing, dtype=np.result_type(reduced, type(missing)))
        cells[self._found] = reduced
        return cells

    def _reduce(self, function):
        return function.reduceat(self._values, self._starts) if len(self._found) else np.array([])

    def _sums(self):
        """Exactly rounded: equal sums must be equal, or rows that tie change places."""
        if self._exact is None:
            if self._values.dtype.kind == "f":
                values, starts = self._values.tolist(), self._starts.tolist()
                ends = [*starts[1:], len(values)]
                self._exact = np.array([math.fsum(values[a:b]) for a, b in zip(starts, ends)])
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
