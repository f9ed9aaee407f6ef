"""Which events are host calls, launches and GPU work; times in whole nanoseconds."""

import re
from functools import lru_cache

GPU = frozenset(("kernel", "gpu_memcpy", "gpu_memset"))
RUNTIME = frozenset(("cuda_runtime", "cuda_driver"))
GRAPH_LAUNCHES = frozenset(("cudaGraphLaunch", "hipGraphLaunch"))
MODULE = "nn.Module:"
PYTHON = "python_function"

_COMMUNICATION = re.compile("nccl|rccl|cross_device_reduce", re.IGNORECASE)


@lru_cache(maxsize=65536)
def is_communication(name):
    return _COMMUNICATION.search(name) is not None


def category_of(event):
    return event.get("cat")


def is_module(event):
    return event.get("cat") == PYTHON and str(event.get("name", "")).startswith(MODULE)


def to_ns(us):
    """Trace times are written with three decimals: as doubles of µs they are exact only rounded."""
    return round(us * 1000)


def span_ns(event):
    """Start and end. The end is the start and the duration, unless it was set to something else."""
    start = to_ns(event["ts"])
    dur, end = event.get("dur"), event.get("t_end")
    if dur is None:
        return start, start if end is None else to_ns(end)
    exact = start + to_ns(dur)
    # Both sums are rounded: at 1e15 µs a double is an eighth of a µs apart from the next.
    if end is None or abs(end - event["ts"] - dur) <= max(0.002, abs(end) * 4e-16):
        return start, exact
    return start, to_ns(end)


def busy_ns(spans):
    """How long at least one of the spans lasted."""
    busy, until = 0, None
    for start, end in sorted(spans):
        if until is None or start > until:
            busy += end - start
            until = end
        elif end > until:
            busy += end - until
            until = end
    return busy


def busy_us(events):
    return busy_ns(map(span_ns, events)) / 1000
