"""Two traces laid over each other."""

from .trace_diff import TraceDiff

__all__ = ["TraceDiff"]
