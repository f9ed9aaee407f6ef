"""Many ranks of one job."""

from __future__ import annotations

import os
from collections import deque
from typing import TYPE_CHECKING, Iterable, Iterator, NamedTuple, Sequence, Union

from tracelens import _native
from tracelens._checks import thread_count
from tracelens._errors import UsageError
from tracelens._report import Report
from tracelens._reading import path_of, read
from tracelens._trace import Trace

if TYPE_CHECKING:
    from concurrent.futures import Future

_Input = Union[Trace, str, "os.PathLike[str]"]


def rank_files(inputs: _Input | Iterable[_Input]) -> list[tuple[str, int | None]]:
    """The traces that files, folders, archives and patterns stand for, with their ranks, in order."""
    if isinstance(inputs, (str, os.PathLike, Trace)):
        inputs = [inputs]
    return _native.rank_files([path_of(each) for each in inputs])


def collectives(
    inputs: _Input | Iterable[_Input],
    *,
    world_size: int | None = None,
    gpus_per_node: int | None = None,
    link_gbps: float | None = None,
    rank_by_position: bool = False,
    only_ranks: Sequence[int] = (),
    patterns: Sequence[tuple[str, str]] = (),
    correct_clocks: bool | None = None,
    aggregates: Sequence[str] = ("mean", "median", "min", "max"),
    detailed: bool = True,
    heatmap: bool = True,
    page: bool = False,
    memory: int | str = "2G",
    edition: str = "extended",
    threads: int = 0,
) -> Report:
    """The communication of a job: who waits for whom, and what it costs.

    inputs: paths, patterns, folders or traces that were read from files. patterns: (regular expression,
    collective) for kernels of other libraries.
    """
    files = rank_files(inputs)

    def made(with_page: bool) -> _native.Report:
        return _native.collectives(
            files,
            world_size=world_size,
            gpus_per_node=gpus_per_node,
            link_gbps=link_gbps,
            rank_by_position=rank_by_position,
            only_ranks=list(only_ranks),
            patterns=[(regex, collective) for regex, collective in patterns],
            correct_clocks=correct_clocks,
            aggregates=list(aggregates),
            detailed=detailed,
            heatmap=heatmap,
            page=with_page,
            memory_bytes=_bytes_of(memory),
            edition=edition,
            threads=thread_count(threads),
        )

    return Report(made(page), "collectives", lambda: made(True))


class Fused(NamedTuple):
    """What ``fuse`` has written."""

    events: int
    ranks: int
    warnings: list[str]


def fuse(
    inputs: _Input | Iterable[_Input],
    output: str | os.PathLike[str],
    *,
    only: str = "",
    python: bool = False,
    categories: Sequence[str] = (),
    only_ranks: Sequence[int] = (),
    window_ns: tuple[int, int] | None = None,
    align_clocks: bool = False,
    gpus_per_node: int | None = None,
) -> Fused:
    """The traces of many ranks as one file for a trace viewer, ranks side by side.

    only: GPU events whose names hold this word. window_ns: events that overlap it, from the first event.
    align_clocks: shift each rank by the difference of the clocks, as the ends of collectives tell it.
    """
    return Fused(
        *_native.fuse(
            rank_files(inputs),
            os.fspath(output),
            python=python,
            only=only,
            categories=list(categories),
            only_ranks=list(only_ranks),
            window_ns=window_ns,
            align_clocks=align_clocks,
            gpus_per_node=gpus_per_node,
        )
    )


def ranks(
    inputs: _Input | Iterable[_Input], *, memory: int | str = "4G", threads: int = 0
) -> Iterator[tuple[int, Trace]]:
    """(rank, trace) of each file in the order of ranks; the next ones are read meanwhile.

    memory: about as much for traces that were read ahead; the one in use is not counted. A file whose
    name tells no rank has its place in the list.

    >>> import tracelens as tl
    >>> [(rank, len(t)) for rank, t in tl.ranks([tl.demo().source.path])]
    [(0, 23215)]
    """
    from concurrent.futures import ThreadPoolExecutor

    limit = _bytes_of(memory)
    files = deque(
        (place if rank is None else rank, path)
        for place, (path, rank) in enumerate(rank_files(inputs))
    )
    ahead: deque[tuple[int, Future[Trace]]] = deque()
    with ThreadPoolExecutor(max_workers=2, thread_name_prefix="tracelens") as pool:
        try:
            while files or ahead:
                while files and _may_read_on([each for _, each in ahead], limit):
                    rank, path = files.popleft()
                    ahead.append((rank, pool.submit(read, path, threads=threads)))
                rank, reading = ahead.popleft()
                trace = reading.result()
                del reading
                yield rank, trace
                del trace
        finally:
            for _, reading in ahead:
                reading.cancel()


def _may_read_on(ahead: Sequence[Future[Trace]], limit: int) -> bool:
    """At most two at once, and none while those that wait to be used hold the limit."""
    held = sum(each.result().nbytes for each in ahead if each.done() and not each.exception())
    return not ahead or (len(ahead) < 3 and held < limit)


def _bytes_of(memory: int | str) -> int:
    if isinstance(memory, int):
        return memory
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
    text = memory.strip().upper().removesuffix("B")
    try:
        return int(float(text[:-1]) * units[text[-1]]) if text[-1:] in units else int(text)
    except ValueError:
        raise UsageError(f"memory: expected a size such as 512M or 4G, not {memory}") from None
