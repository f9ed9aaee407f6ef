"""What is made of one trace, in the worker: the tables asked for and a row about the whole."""

from __future__ import annotations

import os
import pickle
import re
import statistics
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import tracelens as tl

from . import _run

#: What the rankings are made from.
NEEDED = ("gpu_timeline", "step_phases", "ops_summary")


@dataclass(frozen=True)
class About:
    """What the rankings know of a trace. Times are of the whole trace, in milliseconds."""

    job: str
    rank: int | None
    gpu: str
    events: int
    steps: int  # 0: none are marked
    step_ms: float | None  # of the host, or of the GPU where that takes longer
    total_ms: float | None
    computation_ms: float | None
    exposed_comm_ms: float | None
    exposed_memcpy_ms: float | None
    idle_ms: float | None


@dataclass(frozen=True)
class Made:
    """Of one trace."""

    about: About
    tables: dict[str, bytes]  # packed: thousands of traces are kept this way
    ops: dict[str, float]  # GPU milliseconds by op


@dataclass(frozen=True)
class ReadAndReport:
    """Called with the path of a trace. ``tables``: exactly these; None: those of a report."""

    tables: Sequence[str] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, path: str) -> Made:
        trace = tl.read(path, threads=_run.threads)
        wanted = [] if self.tables is None else [*dict.fromkeys((*self.tables, *NEEDED))]
        report = tl.report(trace, tables=wanted, threads=_run.threads, overview=False, **self.options)
        kept = [name for name in report if self.tables is None or name in self.tables]
        return Made(
            _about(path, trace, report), {name: packed(report[name]) for name in kept}, _ops(report)
        )


def packed(table: tl.Table) -> bytes:
    return zlib.compress(pickle.dumps(table, protocol=pickle.HIGHEST_PROTOCOL), level=1)


def unpacked(table: bytes) -> tl.Table:
    made: tl.Table = pickle.loads(zlib.decompress(table))
    return made


def _about(path: str, trace: tl.Trace, report: Mapping[str, tl.Table]) -> About:
    timeline = _pairs(report, "gpu_timeline", "type", "time ms")
    named = zip(_column(report, "step_phases", "step"), _column(report, "step_phases", "wall_ms"))
    steps = [ms for name, ms in named if ms is not None and name not in ("mean", "median", "cv")]
    total = timeline.get("total_time")
    return About(
        job=os.path.dirname(path),
        rank=_rank(path, trace.metadata),
        gpu=trace.gpu,
        events=len(trace),
        steps=len(steps),
        # A host that only queues work is done with its step long before the GPU.
        step_ms=max(statistics.median(steps), (total or 0.0) / len(steps)) if steps else None,
        total_ms=total,
        computation_ms=timeline.get("computation_time"),
        exposed_comm_ms=timeline.get("exposed_comm_time"),
        exposed_memcpy_ms=timeline.get("exposed_memcpy_time"),
        idle_ms=timeline.get("idle_time"),
    )


def _ops(report: Mapping[str, tl.Table]) -> dict[str, float]:
    return _pairs(report, "ops_summary", "name", "total_direct_kernel_time_ms")


def _rank(path: str, metadata: Mapping[str, Any]) -> int | None:
    """What the trace says, else what its name says."""
    info = metadata.get("distributedInfo")
    if isinstance(info, dict) and isinstance(info.get("rank"), int):
        return int(info["rank"])
    named = re.search(r"rank[-_\[]?(\d+)", os.path.basename(path), re.IGNORECASE)
    return int(named[1]) if named else None


def _column(report: Mapping[str, tl.Table], table: str, column: str) -> list[Any]:
    """Its cells, None where one is missing; none at all where there is no such column."""
    return report[table].cells(column) if table in report and column in report[table] else []


def _pairs(report: Mapping[str, tl.Table], table: str, key: str, value: str) -> dict[str, float]:
    keys, values = _column(report, table, key), _column(report, table, value)
    return {name: float(number) for name, number in zip(keys, values) if number is not None}
