"""The Python TraceLens's names over the native core: programs written for it run unmodified.

`TraceLens.__tracelens_native__` is True here, and absent in the package this one stands in for.
"""

from importlib import import_module

from ._names import let_names_be_both

__tracelens_native__ = True

# Where each name lives; imported on first use, because few programs need all of them.
_HOMES = {
    "TreePerfAnalyzer": "TreePerf.tree_perf",
    "JaxTreePerfAnalyzer": "TreePerf.jax_tree_perf",
    "GPUEventAnalyser": "TreePerf.gpu_event_analyser",
    "PytorchGPUEventAnalyser": "TreePerf.gpu_event_analyser",
    "JaxGPUEventAnalyser": "TreePerf.gpu_event_analyser",
    "JaxAnalyses": "TreePerf.jax_analyses",
    "TraceFuse": "TraceFusion.trace_fuse",
    "TraceToTree": "Trace2Tree.trace_to_tree",
    "JaxTraceToTree": "Trace2Tree.trace_to_tree",
    "NcclAnalyser": "NcclAnalyser.nccl_analyser",
    "JaxNcclAnalyser": "NcclAnalyser.jax_nccl_analyser",
    "EventReplayer": "EventReplay.event_replay",
    "DataLoader": "util",
    "TraceEventUtils": "util",
    "JaxProfileProcessor": "util",
    "TraceDiff": "TraceDiff.trace_diff",
}
_PACKAGES = ("PerfModel", "EventReplay", "Reporting", "TreePerf", "Trace2Tree", "TraceFusion",
             "TraceUtils", "util")  # fmt: skip

__all__ = [*_HOMES, "PerfModel", "EventReplay", "Reporting"]


def _star_imports():
    for home in ("PerfModel.perf_model", "Reporting.generate_perf_report_pytorch"):
        yield import_module(f"{__name__}.{home}")


def _of_star_imports(name):
    """Model classes and report functions are reachable from here, too."""
    if not name.startswith("_"):
        for module in _star_imports():
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    starred = (name for module in _star_imports() for name in vars(module) if not name.startswith("_"))
    return sorted({*globals(), *__all__, *_PACKAGES, *starred})


let_names_be_both(__name__, _HOMES, _PACKAGES, _of_star_imports)
