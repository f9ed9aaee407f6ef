"""Traces of many ranks in one file."""

from .trace_fuse import TraceFuse

__all__ = ["TraceFuse"]
