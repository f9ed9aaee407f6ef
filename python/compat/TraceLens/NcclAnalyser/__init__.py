"""Collectives of many ranks."""

from .nccl_analyser import NcclAnalyser

__all__ = ["JaxNcclAnalyser", "NcclAnalyser"]


def __getattr__(name):
    if name != "JaxNcclAnalyser":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .jax_nccl_analyser import JaxNcclAnalyser

    return JaxNcclAnalyser
