"""Reports of many traces at once, on a pool of processes or on a cluster.

    >>> from tracelens import fleet
    >>> runs = fleet.report("runs/")                             # doctest: +SKIP
    >>> runs["ops_summary"].to_pandas()                          # doctest: +SKIP
    >>> runs.slow_runs(); runs.differing_ops(); runs.stragglers()    # doctest: +SKIP
    >>> runs.failed                                              # doctest: +SKIP

``docs/guide/fleet.md`` has more, also for Dask, Ray and Spark.
"""

from __future__ import annotations

from ._files import find_traces
from ._fleet import Fleet, Run, map, report, stream
from ._pool import Pool
from ._run import Backend, Failure
from ._dask import Dask

__all__ = ["Backend", "Dask", "Failure", "Fleet", "Pool", "Run", "find_traces", "map", "report", "stream"]
