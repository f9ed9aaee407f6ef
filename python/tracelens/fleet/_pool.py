"""Processes of this machine. One that dies costs the trace it had in hand another try, and no more."""

from __future__ import annotations

import collections
import multiprocessing
import multiprocessing.connection
import signal
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from tracelens import Error
from tracelens._native import usable_cpus

from . import _run
from ._run import Outcome, Task, died, work

_CANNOT_START = (
    "the worker processes cannot start: a script has to call fleet below 'if __name__ == \"__main__\":', "
    "because each of them imports it; their own messages are above"
)


class Pool:
    """A pool of processes, made anew (not forked: a process with threads cannot be) by each call.

        >>> fleet.report("runs/", backend=fleet.Pool(workers=8))    # doctest: +SKIP

    ``workers``: when 0, one for each core that this process may use (a container may have the time of fewer
    than the machine has). ``threads``: with how many each reads; together as many as there are cores when 0.
    The result depends on neither.
    """

    def __init__(self, workers: int = 0, *, threads: int = 0) -> None:
        self._workers = workers or usable_cpus()
        self._threads = threads or max(1, usable_cpus() // self._workers)
        self._context = multiprocessing.get_context("spawn")
        self._all: list[_Worker] = []
        self._waiting: collections.deque[Task] = collections.deque()
        self._deaths_at_start = 0

    def slots(self) -> int:
        return self._workers

    def submit(self, task: Task) -> None:
        self._waiting.append(task)
        self._hand_out()

    def next(self) -> Outcome:
        while True:
            self._hand_out()
            ends: list[Any] = [worker.pipe for worker in self._all]
            ready = multiprocessing.connection.wait(ends)
            for worker in [worker for worker in self._all if worker.pipe in ready]:
                outcome = self._hear(worker)
                if outcome is not None:
                    return outcome

    def close(self) -> None:
        for worker in self._all:
            worker.process.kill()
        for worker in self._all:
            worker.process.join()
            worker.pipe.close()
        self._all.clear()
        self._waiting.clear()

    def pids(self) -> list[int]:
        """The processes there are now."""
        return [worker.process.pid for worker in self._all if worker.process.pid is not None]

    def _hear(self, worker: _Worker) -> Outcome | None:
        try:
            said = worker.pipe.recv()
        except (EOFError, OSError):  # it died, maybe while it spoke
            return self._bury(worker)
        worker.is_ready = True
        self._deaths_at_start = 0
        if not isinstance(said, Outcome):
            return None  # its greeting
        worker.task = None
        self._hand_out()
        return said

    def _bury(self, worker: _Worker) -> Outcome | None:
        worker.process.join()
        worker.pipe.close()
        self._all.remove(worker)
        if not worker.is_ready:
            self._deaths_at_start += 1
            if self._deaths_at_start > 2 * self._workers:
                raise Error(_CANNOT_START)
            if worker.task is not None:
                self._waiting.appendleft(worker.task)  # it was not the trace's doing
            return None
        return died(worker.task) if worker.task is not None else None

    def _hand_out(self) -> None:
        idle = [worker for worker in self._all if worker.task is None]
        while self._waiting:
            if not idle and len(self._all) < self._workers:
                idle = [self._start()]
            if not idle:
                return
            worker = idle.pop()
            worker.task = self._waiting.popleft()
            try:
                worker.pipe.send(worker.task)
            except OSError:
                pass  # it has died: the next wait() tells

    def _start(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_serve, args=(theirs, self._threads), daemon=True)
        process.start()
        theirs.close()  # so that its end is the end
        worker = _Worker(process, ours)
        self._all.append(worker)
        return worker


class _Worker:
    def __init__(self, process: BaseProcess, pipe: Connection) -> None:
        self.process = process
        self.pipe = pipe
        self.task: Task | None = None
        self.is_ready = False


def _serve(pipe: Connection, threads: int) -> None:
    """The life of a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one who asked; it ends this one
    _run.threads = threads
    try:
        pipe.send("ready")
        while True:
            pipe.send(work(pipe.recv()))
    except (EOFError, OSError):
        pass  # nobody asks any more
