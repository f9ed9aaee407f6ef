"""Whether the models and categories are still those of the package, which the core knows too."""

import importlib.util
import sys
import threading
from functools import lru_cache

from ..PerfModel import torch_op_mapping


_making = threading.Lock()


def _pristine():
    """The module as it is before a program adds to it: the registries are open to everybody."""
    with _making:  # the cache alone would let two threads make it at once
        return _fresh_copy()


@lru_cache(maxsize=1)
def _fresh_copy():
    name = torch_op_mapping.__name__ + "_as_shipped"
    spec = importlib.util.spec_from_file_location(name, torch_op_mapping.__file__)
    module = importlib.util.module_from_spec(spec)
    module.__package__ = torch_op_mapping.__package__
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[name]
    return module


def has_own_categories():
    return torch_op_mapping.OP_CATEGORY_REGISTRY != _pristine().OP_CATEGORY_REGISTRY


def has_own_models():
    """True when a program registered a model, a matcher or a category of its own."""
    shipped = _pristine()
    return (
        torch_op_mapping.op_to_perf_model_class_map != shipped.op_to_perf_model_class_map
        or len(torch_op_mapping._matchers) != len(shipped._matchers)
        or has_own_categories()
        or _has_own_kernel_names()
    )


@lru_cache(maxsize=1)
def _kernel_name_functions():
    from ..PerfModel import kernel_name_parser

    return kernel_name_parser, kernel_name_parser.__name__


def _has_own_kernel_names():
    parser, home = _kernel_name_functions()
    return any(getattr(parser, name).__module__ != home for name in ("is_rocm_gemm", "parse_rocm_gemm"))
