"""Performance models: FLOPs and bytes of ops, and which op has which model and category."""

from . import jax_op_mapping, kernel_name_parser, perf_model, torch_op_mapping, utils
from .jax_op_mapping import jax_op_to_perf_model_class_map
from .perf_model import *  # noqa: F401,F403
from .torch_op_mapping import (
    categorize_torch_op,
    dict_cat2names,
    op_to_perf_model_class_map,
    resolve_perf_model_class,
)
