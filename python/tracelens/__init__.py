"""TraceLens: where the time of a training or serving job went, from its profiler trace."""

from tracelens._native import Error, __version__

__all__ = ["Error", "__version__"]
