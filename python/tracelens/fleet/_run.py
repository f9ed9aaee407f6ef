"""Work over many files on any back-end: few at a time, tried again where that may help."""

from __future__ import annotations

import collections
import errno
import pickle
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Union

from ._files import memory_to_read

#: ``True``: a line on standard error; or called with (done, of how many, failed).
Progress = Union[bool, Callable[[int, int, int], None]]

#: With how many a trace is read in this process: several processes share the cores.
threads = 1

DIED = "the process that read it died, which too little memory can cause"


@dataclass(frozen=True)
class Failure:
    """A trace without a result: why, and how often it was tried."""

    trace: str
    error: str
    attempts: int


@dataclass(frozen=True)
class Task:
    """What is sent to a worker."""

    number: int
    trace: str
    function: bytes  # pickled: one that cannot be loaded there is an error of the task, not of the worker
    attempt: int = 1


@dataclass(frozen=True)
class Outcome:
    """What comes back of a task: a value, or a sentence and whether to try again."""

    number: int
    value: bytes = b""  # pickled
    error: str | None = None
    again: bool = False


class Backend(Protocol):
    """Runs tasks somewhere. ``Pool`` and ``Dask`` are such; one of your own needs these four."""

    def slots(self) -> int:
        """How many tasks run at the same time."""

    def submit(self, task: Task) -> None:
        """Begins it, or keeps it until there is a place."""

    def next(self) -> Outcome:
        """Waits for one of those begun to end, whichever it is. Its process died: ``died(task)``."""

    def close(self) -> None:
        """Gives back what it holds; what is still running is not wanted any more."""


def work(task: Task) -> Outcome:
    """Does a task; runs in the worker. Nothing leaves it but an Outcome, whatever the file holds."""
    try:
        value = pickle.loads(task.function)(task.trace)
        return Outcome(task.number, value=pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL))
    except MemoryError:
        return Outcome(task.number, error=f"{task.trace}: not enough memory", again=True)
    except OSError as error:  # a file system can be away for a moment
        again = error.errno not in (errno.ENOENT, errno.EISDIR, errno.EACCES)
        return Outcome(task.number, error=str(error), again=again)
    except Exception as error:
        return Outcome(task.number, error=str(error) or type(error).__name__)


def died(task: Task) -> Outcome:
    return Outcome(task.number, error=f"{task.trace}: {DIED}", again=True)


def run(
    function: Callable[[str], Any],
    traces: Sequence[str],
    backend: Backend,
    *,
    retries: int,
    memory: int | None,
    progress: Progress,
) -> Iterator[tuple[int, Any | Failure]]:
    """(Number, value or Failure) of each trace, as they come. Few are begun before others are taken."""
    tell = _teller(progress, len(traces))
    pickled = _pickled(function)
    waiting = collections.deque(Task(i, trace, pickled) for i, trace in enumerate(traces))
    begun: dict[int, Task] = {}
    needs: dict[int, int] = {}
    done = failed = 0
    tell(done, failed)
    while waiting or begun:
        # Twice the places: a worker need not wait for this process to send the next one.
        while waiting and len(begun) < 2 * max(1, backend.slots()):
            need = memory_to_read(waiting[0].trace) if memory is not None else 0
            if begun and memory is not None and sum(needs.values()) + need > memory:
                break
            task = waiting.popleft()
            begun[task.number], needs[task.number] = task, need
            backend.submit(task)
        outcome = backend.next()
        task = begun.pop(outcome.number)
        needs.pop(outcome.number)
        if outcome.error is not None and outcome.again and task.attempt <= retries:
            waiting.append(replace(task, attempt=task.attempt + 1))  # after the others: things may calm down
            continue
        done += 1
        failed += outcome.error is not None
        tell(done, failed)
        if outcome.error is None:
            yield task.number, pickle.loads(outcome.value)
        else:
            yield task.number, Failure(task.trace, outcome.error, task.attempt)


def _pickled(function: Callable[[str], Any]) -> bytes:
    try:
        import cloudpickle  # also takes functions of a notebook; Dask brings it
    except ImportError:
        return pickle.dumps(function)
    dumped: bytes = cloudpickle.dumps(function)
    return dumped


def _teller(progress: Progress, total: int) -> Callable[[int, int], None]:
    if callable(progress):
        called = progress
        return lambda done, failed: called(done, total, failed)
    if not progress:
        return lambda done, failed: None
    started = time.monotonic()

    def tell(done: int, failed: int) -> None:
        text = f"{done} of {total} traces"
        text += f", {failed} failed" if failed else ""
        text += f", {time.monotonic() - started:.0f} s"
        end = "\n" if done == total else ""
        sys.stderr.write(f"\r{text:<60}{end}")
        sys.stderr.flush()

    return tell
