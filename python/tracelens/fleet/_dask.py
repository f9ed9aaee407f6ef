"""The workers of a Dask cluster."""

from __future__ import annotations

import itertools
import time
from dataclasses import replace
from typing import Any

from ._run import Outcome, Task, died, work


_COUNT_AGAIN_S = 2.0


class Dask:
    """The cluster of a ``distributed.Client``; ``backend=client`` means the same.

        >>> fleet.report("/shared/runs/", backend=distributed.Client("tcp://head:8786"))    # doctest: +SKIP

    Its workers see the files under the same paths and have ``tracelens`` installed. A trace that was in
    the hands of a worker that died is given to another one, by Dask, until that gives it up.
    """

    _calls = itertools.count()

    def __init__(self, client: Any) -> None:
        import distributed

        untyped: Any = distributed
        self._client = client
        self._killed: type[Exception] = untyped.scheduler.KilledWorker
        self._done: Any = untyped.as_completed()
        self._tasks: dict[str, Task] = {}
        self._call = f"tracelens-{client.id}-{next(self._calls)}"
        self._slots, self._counted = 1, -_COUNT_AGAIN_S

    def slots(self) -> int:
        # Workers come and go, but asking the scheduler before each task would keep it from its work.
        now = time.monotonic()
        if now - self._counted >= _COUNT_AGAIN_S:
            threads: int = sum(self._client.nthreads().values())
            self._slots, self._counted = max(1, threads), now
        return self._slots

    def submit(self, task: Task) -> None:
        key = f"{self._call}-{task.number}-{task.attempt}"
        self._tasks[key] = task
        self._done.add(self._client.submit(work, task, key=key, pure=False))

    def next(self) -> Outcome:
        future = next(self._done)
        task = self._tasks.pop(future.key)
        try:
            outcome: Outcome = future.result()
            return outcome
        except self._killed:  # Dask has given it to several workers already, and lost them
            return replace(died(task), again=False)
        except Exception:  # a lost connection, say: work() itself raises nothing
            return died(task)
        finally:
            future.release()

    def close(self) -> None:
        futures = list(self._done.futures)
        if futures:
            self._client.cancel(futures)
        self._tasks.clear()
