"""The reports of many traces: asked for, streamed, put together."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Union

import tracelens as tl

from . import _ranking, _tables
from ._dask import Dask
from ._files import Paths, bytes_of, find_traces
from ._pool import Pool
from ._run import Backend, Failure, Progress, run
from ._work import About, Made, ReadAndReport, unpacked

#: A trace's group or job, by its path: a function, or a dict.
Grouping = Union[Callable[[str], str], Mapping[str, str], None]


@dataclass(frozen=True)
class Run:
    """One trace of a fleet: its tables by name, or what went wrong."""

    trace: str
    tables: Mapping[str, tl.Table]
    failure: Failure | None = None


class Fleet(Mapping[str, tl.Table]):
    """Tables of many traces, by name: each is that of a report, with the column ``trace`` in front.

    Made by ``report()``. Rows stand in the order in which the traces were given, whatever the back-end. A
    table is put together when it is asked for: until then the traces' parts are kept packed.
    """

    def __init__(self, made: Mapping[str, Made], failures: Mapping[str, Failure]) -> None:
        self._about: dict[str, About] = {trace: each.about for trace, each in made.items()}
        self._ops = {trace: each.ops for trace, each in made.items()}
        self._parts: dict[str, list[tuple[str, bytes]]] = {}  # of each table: (trace, its part)
        for trace, each in made.items():
            for name, table in each.tables.items():
                self._parts.setdefault(name, []).append((trace, table))
        self._tables: dict[str, tl.Table] = {}
        self._failed = list(failures.values())

    def __getitem__(self, name: str) -> tl.Table:
        if name not in self._tables:
            parts = [(trace, unpacked(table)) for trace, table in self._parts[name]]
            self._tables[name] = _tables.stack("trace", "the trace it is of, as its path", parts)
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_tables": {}}

    def __repr__(self) -> str:
        failed = f", {len(self._failed)} failed" if self._failed else ""
        return f"Fleet({len(self._about)} traces{failed}, {len(self)} tables)"

    @property
    def traces(self) -> list[str]:
        """Those with a result."""
        return list(self._about)

    @property
    def failed(self) -> list[Failure]:
        """Those without: ``trace``, ``error`` (a sentence) and ``attempts``."""
        return self._failed

    @property
    def runs(self) -> tl.Table:
        """A row per trace: its job, rank, GPU, steps, and where its time went."""
        return _ranking.runs(self._about)

    def slow_runs(self, *, group: Grouping = None) -> tl.Table:
        """The runs by how much longer they take than the median of their group, the slowest first.

        The time of a run is that of a step, or all of it where no steps are marked. ``mostly``
        names the part (computing, exposed communication or copies, idle) that grew most over the
        median of the group. Runs are compared with those of their ``group``: a function of the path, or
        a dict; all of them when None.
        """
        return _ranking.slow_runs(self._about, _key(group, lambda trace: ""))

    def differing_ops(self, *, group: Grouping = None) -> tl.Table:
        """The ops by how far their GPU time per step is apart between runs of a group."""
        return _ranking.differing_ops(self._about, self._ops, _key(group, lambda trace: ""))

    def stragglers(self, *, job: Grouping = None) -> tl.Table:
        """The ranks by how much later per step than the median rank of their job they are done.

        Until a rank is ready to communicate the others wait in their collectives: its time is that
        of a step without exposed communication. ``job``: a function of the path, or a dict; the folder
        of the trace when None. Only jobs of several ranks are listed.
        """
        return _ranking.stragglers(self._about, _key(job, os.path.dirname))


def _key(grouping: Grouping, default: Callable[[str], str]) -> Callable[[str], str]:
    if grouping is None:
        return default
    if callable(grouping):
        return grouping
    names = grouping
    return lambda trace: names.get(trace, "")


def report(
    paths: Paths,
    *,
    tables: list[str] | None = None,
    backend: Backend | Any = None,
    retries: int = 2,
    memory: int | str | None = None,
    progress: Progress = False,
    **options: Any,
) -> Fleet:
    """Reads many traces and makes their reports; one table each, with a column ``trace``.

    ``paths``: folders, patterns, files. ``tables``: only these, which saves time and memory.
    ``backend``: a ``Pool`` (when None: one process per core), a ``distributed.Client``, or a
    ``Backend`` of your own. ``retries``: how often a trace is tried again whose process died or whose
    file could not be read; what is no trace is not. ``memory`` (``"16G"``): so many traces are read at
    the same time as need about this much. ``progress``: True, or called with (done, of how many, failed).
    Other keywords are those of ``tracelens.report``.

    A trace that fails is in ``failed`` and the others are reported. Raises ``FileError`` when there are no
    traces at all.
    """
    made: dict[int, Made] = {}
    failures: dict[int, Failure] = {}
    traces = find_traces(paths)
    for number, result in _results(ReadAndReport(tables, options), traces, backend, retries, memory, progress):
        if isinstance(result, Failure):
            failures[number] = result
        else:
            made[number] = result
    return Fleet(
        {traces[number]: made[number] for number in sorted(made)},
        {traces[number]: failures[number] for number in sorted(failures)},
    )


def stream(
    paths: Paths,
    *,
    tables: list[str] | None = None,
    backend: Backend | Any = None,
    retries: int = 2,
    memory: int | str | None = None,
    progress: Progress = False,
    **options: Any,
) -> Iterator[Run]:
    """As ``report``, one trace at a time as they come: nothing is kept, however many there are.

        >>> for run in fleet.stream("runs/", tables=["gpu_timeline"]):      # doctest: +SKIP
        ...     print(run.trace, run.failure or run.tables["gpu_timeline"])
    """
    traces = find_traces(paths)
    for number, result in _results(ReadAndReport(tables, options), traces, backend, retries, memory, progress):
        if isinstance(result, Failure):
            yield Run(traces[number], {}, result)
        else:
            yield Run(traces[number], {name: unpacked(table) for name, table in result.tables.items()})


def map(
    function: Callable[[str], Any],
    paths: Paths,
    *,
    backend: Backend | Any = None,
    retries: int = 2,
    memory: int | str | None = None,
    progress: Progress = False,
) -> Iterator[tuple[str, Any]]:
    """(Path, what ``function`` makes of it) for each trace, as they come; a ``Failure`` where it raised.

        >>> for path, events in fleet.map(lambda path: len(tl.read(path)), "runs/"):    # doctest: +SKIP
        ...     print(path, events)

    What the function gives back must be picklable, and so must the function: a named one of a module, or,
    where cloudpickle is installed, any.
    """
    traces = find_traces(paths)
    for number, result in _results(function, traces, backend, retries, memory, progress):
        yield traces[number], result


def _results(
    function: Callable[[str], Any],
    traces: list[str],
    backend: Backend | Any,
    retries: int,
    memory: int | str | None,
    progress: Progress,
) -> Iterator[tuple[int, Any | Failure]]:
    chosen = _backend(backend)
    try:
        yield from run(
            function, traces, chosen, retries=retries, memory=bytes_of(memory), progress=progress
        )
    finally:
        chosen.close()


def _backend(given: Backend | Any) -> Backend:
    if given is None:
        return Pool()
    if all(hasattr(given, part) for part in ("slots", "submit", "next", "close")):
        backend: Backend = given
        return backend
    if hasattr(given, "scheduler_info"):
        return Dask(given)
    raise TypeError(f"backend: expected a fleet.Pool, a distributed.Client or a Backend, not {given!r}")
