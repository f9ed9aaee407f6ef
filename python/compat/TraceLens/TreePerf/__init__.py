"""Tables about the ops, kernels and modules of a trace."""

from importlib import import_module

_HOMES = {
    "TreePerfAnalyzer": "tree_perf",
    "JaxTreePerfAnalyzer": "jax_tree_perf",
    "GPUEventAnalyser": "gpu_event_analyser",
    "PytorchGPUEventAnalyser": "gpu_event_analyser",
    "JaxGPUEventAnalyser": "gpu_event_analyser",
    "JaxAnalyses": "jax_analyses",
}
__all__ = list(_HOMES)


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
