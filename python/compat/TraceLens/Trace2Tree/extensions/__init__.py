"""Pseudo ops: ops that nobody recorded, around the kernels of serving engines."""

from .pseudo_ops_registry import apply_pseudo_op_extensions
from .pseudo_ops_utils import (
    inject_pseudo_op,
    inject_pseudo_op_above_event,
    inject_pseudo_op_wrap_children,
    normalize_sglang_profiler_op_names,
    set_bookkeeping_attr,
)

__all__ = [
    "apply_pseudo_op_extensions",
    "inject_pseudo_op",
    "inject_pseudo_op_above_event",
    "inject_pseudo_op_wrap_children",
    "normalize_sglang_profiler_op_names",
    "set_bookkeeping_attr",
]
