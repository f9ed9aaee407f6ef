"""The call tree of a trace over its events as dictionaries."""

from .trace_to_tree import JaxTraceToTree, TraceToTree

__all__ = ["JaxTraceToTree", "TraceToTree"]
