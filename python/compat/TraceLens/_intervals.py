"""Arithmetic on time intervals (start, end)."""


def merge_intervals(intervals):
    """The union, by start; intervals that touch become one."""
    merged = []
    for start, end in sorted(intervals, key=lambda interval: interval[0]):
        if merged and start <= merged[-1][1]:
            if end > merged[-1][1]:
                merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return merged


def subtract_intervals(taken, intervals):
    """What of `intervals` is not in `taken`; both by start and without overlaps among themselves."""
    left, first = [], 0
    for start, end in intervals:
        while first < len(taken) and taken[first][1] <= start:
            first += 1
        index = first
        while index < len(taken) and taken[index][0] < end and start < end:
            if taken[index][0] > start:
                left.append((start, taken[index][0]))
            start = max(start, taken[index][1])
            index += 1
        if start < end:
            left.append((start, end))
    return left


def length(intervals):
    return sum(end - start for start, end in intervals)
