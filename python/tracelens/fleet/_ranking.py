"""Which runs are slow, which ops differ between runs, which ranks straggle."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from typing import Any

import tracelens as tl

from ._tables import table
from ._work import About

Key = Callable[[str], str]

#: What a step is made of, and its name in `mostly`.
_PARTS = {
    "computing": "computation_ms",
    "exposed communication": "exposed_comm_ms",
    "exposed copies": "exposed_memcpy_ms",
    "idle": "idle_ms",
}


def runs(about: Mapping[str, About]) -> tl.Table:
    columns = [
        ("trace", "text", "", "its path"),
        ("job", "text", "", "the folder it lies in"),
        ("rank", "integer", "id", "as the trace says, else its name"),
        ("gpu", "text", "", "as the trace names it"),
        ("events", "integer", "", "recorded events"),
        ("steps", "integer", "", "marked steps"),
        ("step ms", "real", "ms", "the median step, or the GPU's time per step where that is longer"),
        ("total ms", "real", "ms", "from the first GPU event to the end of the last"),
        ("computation ms", "real", "ms", "GPU computing"),
        ("exposed comm ms", "real", "ms", "communication with nothing computed meanwhile"),
        ("exposed memcpy ms", "real", "ms", "copies with nothing else meanwhile"),
        ("idle ms", "real", "ms", "the GPU did nothing"),
    ]
    rows = [
        (
            trace, each.job, each.rank, each.gpu, each.events, each.steps, each.step_ms, each.total_ms,
            each.computation_ms, each.exposed_comm_ms, each.exposed_memcpy_ms, each.idle_ms,
        )
        for trace, each in about.items()
    ]  # fmt: skip
    return table("runs", "The traces of the fleet", columns, rows)


def slow_runs(about: Mapping[str, About], group_of: Key) -> tl.Table:
    columns = [
        ("trace", "text", "", "the run, slowest first"),
        ("group", "text", "", "the runs it is compared with"),
        ("time ms", "real", "ms", "of a step, or of the whole where no steps are marked"),
        ("per", "text", "", "step or trace"),
        ("median ms", "real", "ms", "of the group"),
        ("extra ms", "real", "ms", "over the median"),
        ("times median", "real", "", "time over the median"),
        ("mostly", "text", "", "the part that grew most over its median in the group"),
        ("mostly extra ms", "real", "ms", "by how much"),
        ("outlier", "bool", "", "further from the median than the spread of the group explains"),
    ]
    rows: list[tuple[Any, ...]] = []
    for group, members in _groups({trace: each for trace, each in about.items() if _time(each)}, group_of):
        times = {trace: _time(about[trace]) for trace in members}
        median, is_outlier = _spread(list(times.values()))
        parts = {
            part: statistics.median(_per_step(about[trace], field) for trace in members)
            for part, field in _PARTS.items()
        }
        for trace, time in times.items():
            grown = {part: _per_step(about[trace], field) - parts[part] for part, field in _PARTS.items()}
            most = max(grown, key=lambda part: grown[part])
            slower = time > median and grown[most] > 0
            rows.append(
                (
                    trace, group, time, "step" if about[trace].steps else "trace", median, time - median,
                    time / median if median else None, most if slower else None,
                    grown[most] if slower else None, is_outlier(time),
                )
            )  # fmt: skip
    rows.sort(key=lambda row: -(row[6] or 0.0))
    return table("slow_runs", "The runs by how much slower than the median of their group", columns, rows)


def differing_ops(about: Mapping[str, About], ops: Mapping[str, Mapping[str, float]], group_of: Key) -> tl.Table:
    columns = [
        ("name", "text", "", "the op"),
        ("group", "text", "", "the runs that are compared"),
        ("runs", "integer", "", "runs that have it"),
        ("of runs", "integer", "", "runs of the group"),
        ("median ms", "real", "ms", "GPU time per step (per trace where none are marked); without it: 0"),
        ("min ms", "real", "ms", ""),
        ("max ms", "real", "ms", ""),
        ("spread ms", "real", "ms", "from the fastest run to the slowest"),
        ("times median", "real", "", "the slowest over the median"),
        ("slowest trace", "text", "", ""),
        ("fastest trace", "text", "", ""),
    ]
    rows: list[tuple[Any, ...]] = []
    for group, members in _groups(about, group_of):
        if len(members) < 2:
            continue
        for name in dict.fromkeys(name for trace in members for name in ops[trace]):
            times = {
                trace: ops[trace].get(name, 0.0) / max(1, about[trace].steps) for trace in members
            }
            median = statistics.median(times.values())
            fastest, slowest = min(times, key=times.__getitem__), max(times, key=times.__getitem__)
            rows.append(
                (
                    name, group, sum(name in ops[trace] for trace in members), len(members), median,
                    times[fastest], times[slowest], times[slowest] - times[fastest],
                    times[slowest] / median if median else None, slowest, fastest,
                )
            )  # fmt: skip
    rows.sort(key=lambda row: -float(row[7]))
    return table("differing_ops", "The ops by how far their time is apart between runs", columns, rows)


def stragglers(about: Mapping[str, About], job_of: Key) -> tl.Table:
    columns = [
        ("job", "text", "", "the ranks that are compared"),
        ("rank", "integer", "id", "as the trace says, else its name"),
        ("trace", "text", "", ""),
        ("ready ms", "real", "ms", "of a step without exposed communication: until it could communicate"),
        ("median ms", "real", "ms", "the same of the median rank"),
        ("late ms", "real", "ms", "per step, over the median: what the others wait for it"),
        ("exposed comm ms", "real", "ms", "per step: what it waits for others, and the network"),
        ("straggler", "bool", "", "further from the median than the spread of the job explains"),
    ]
    rows: list[tuple[Any, ...]] = []
    known = {trace: each for trace, each in about.items() if each.total_ms is not None}
    for job, members in _groups(known, job_of):
        if len(members) < 2:
            continue
        ready = {
            trace: _per_step(about[trace], "total_ms") - _per_step(about[trace], "exposed_comm_ms")
            for trace in members
        }
        median, is_outlier = _spread(list(ready.values()))
        for trace, time in ready.items():
            each = about[trace]
            rows.append(
                (
                    job, each.rank, trace, time, median, time - median,
                    _per_step(each, "exposed_comm_ms"), is_outlier(time),
                )
            )  # fmt: skip
    rows.sort(key=lambda row: -float(row[5]))
    return table("stragglers", "The ranks by how late they are", columns, rows)


def _groups(about: Mapping[str, About], key: Key) -> list[tuple[str, list[str]]]:
    groups: dict[str, list[str]] = {}
    for trace in about:
        groups.setdefault(key(trace), []).append(trace)
    return list(groups.items())


def _time(about: About) -> float:
    return (about.step_ms if about.steps else about.total_ms) or 0.0


def _per_step(about: About, field: str) -> float:
    value: float | None = getattr(about, field)
    return (value or 0.0) / max(1, about.steps)


def _spread(values: list[float]) -> tuple[float, Callable[[float], bool]]:
    """The median, and whether a value lies above what the usual distance from it explains.

    By the median of the distances, which a few slow runs do not move (Iglewicz and Hoaglin, 1993); runs
    within 2 % are alike, however close the others are to each other.
    """
    median = statistics.median(values)
    usual = statistics.median(abs(value - median) for value in values)
    limit = max(3.5 * usual / 0.6745, 0.02 * median)
    return median, lambda value: value > median + limit
