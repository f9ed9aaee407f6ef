"""TreePerfAnalyzer: tables about the ops, kernels and modules of one trace."""

import logging
import os

import pandas as pd

from ..PerfModel import torch_op_mapping
from ..PerfModel.torch_op_mapping import categorize_torch_op
from ..Trace2Tree._kinds import GPU, category_of
from ..Trace2Tree.trace_to_tree import TraceToTree
from . import _launcher_summaries, _metric_summaries
from ._kernels import kernel_frame, kernel_row
from ._launchers import find_launchers, gpu_events, launcher_rows
from ._metrics import metric_rows, metrics_of
from ._module_times import write_module_times
from ._native_tables import NativeTables
from ._overlap import mark_partners
from ._recompute import mark_recompute
from ._unified import Collector, unified_rows
from .gpu_event_analyser import GPUEventAnalyser

logger = logging.getLogger(__name__)

_DATA_MOVERS = ("at::native::direct_copy_kernel_cuda", "transpose_")


class TreePerfAnalyzer:
    """`TreePerfAnalyzer.from_file(path)`, or of a TraceToTree; its tables are pandas DataFrames."""

    def __init__(
        self,
        tree,
        add_python_func=False,
        arch=None,
        jax=False,
        python_path=None,
        event_to_category=category_of,
        include_unlinked_kernels=False,
        enable_pseudo_ops=False,
        tree_postprocess_extension=None,
        rebuild_tree=True,
        detect_recompute=False,
        enable_origami=False,
        inductor_cache_dir=None,
        pb_file_name=None,
        metadata_events=None,
        kernel_metadata_keyword_filters=None,
    ):
        self.tree = tree
        self.jax = jax
        self.arch = arch
        self.python_path = python_path
        self.event_to_category = event_to_category
        self.include_unlinked_kernels = include_unlinked_kernels
        self.detect_recompute = detect_recompute
        self.add_python_func = add_python_func or detect_recompute
        self.enable_origami = enable_origami
        self.inductor_cache_dir = inductor_cache_dir
        self.GPUEventAnalyser = GPUEventAnalyser
        self.op_to_perf_model_class_map = torch_op_mapping.op_to_perf_model_class_map
        if not hasattr(type(self), "op_categorizer"):  # a subclass may have a method of the name
            self.op_categorizer = categorize_torch_op
        self.trace_metadata = getattr(tree, "trace_metadata", {})
        self._native = NativeTables(self)
        if rebuild_tree:
            tree.build_tree(self.add_python_func)
        if enable_pseudo_ops:
            self._add_pseudo_ops()
        if tree_postprocess_extension is not None:
            tree_postprocess_extension(tree)
        if detect_recompute:
            mark_recompute(tree)

    @property
    def gpu_only(self):
        """Whether the trace has no ops; may be set."""
        if "_gpu_only" not in self.__dict__:
            self._gpu_only = self.check_gpu_only()
        return self._gpu_only

    @gpu_only.setter
    def gpu_only(self, value):
        self._gpu_only = value

    @property
    def dict_cat2names(self):
        """Family of sheets -> names of its ops."""
        return torch_op_mapping.build_sheet_category_to_op_names(self.op_to_perf_model_class_map)

    @classmethod
    def from_file(
        cls,
        profile_filepath,
        capture_trace_filepath=None,
        jax=False,
        enable_pseudo_ops=False,
        tree_postprocess_extension=None,
        *args,
        **kwargs,
    ):
        """The analyzer of a trace file, whatever its name; further arguments are the constructor's."""
        path = os.fspath(profile_filepath)
        if jax and cls is TreePerfAnalyzer and (os.path.isdir(path) or path.endswith((".pb", ".pb.gz"))):
            from .jax_tree_perf import JaxTreePerfAnalyzer

            return JaxTreePerfAnalyzer.from_file(path, *args, **kwargs)
        tree = TraceToTree.from_file(
            path, captures=capture_trace_filepath, event_to_category=kwargs.get("event_to_category"))  # fmt: skip
        return cls(
            tree, *args, jax=jax, enable_pseudo_ops=enable_pseudo_ops,
            tree_postprocess_extension=tree_postprocess_extension, **kwargs)  # fmt: skip

    def _add_pseudo_ops(self):
        try:
            self.tree.add_pseudo_ops()
        except Exception as error:  # the tables of the recorded ops are worth having
            logger.warning("Pseudo ops were not added: %s", error)

    # --- the GPU as a whole ---

    def check_gpu_only(self):
        if self.event_to_category is category_of and self.tree.cpu_root_nodes:
            return False
        return not any(self.event_to_category(event) == "cpu_op" for event in self.tree.events)

    def get_df_gpu_timeline(self, micro_idle_thresh_us=None, gpu_pid=None):
        made = self._native.timeline(micro_idle_thresh_us)
        if made is not None:
            return made
        events = gpu_events(self)
        if not self.detect_recompute:
            return self._breakdown(events, micro_idle_thresh_us)
        self.compute_overlapping_kernels(events)
        blocks = []
        for again in (False, True):
            part = [event for event in events if bool(event.get("is_recompute")) == again]
            if part:
                blocks.append(self._breakdown(part, micro_idle_thresh_us).assign(is_recompute=again))
        if not blocks:
            raise ValueError("No GPU events found in the trace")
        self.compute_overlapping_kernels(events)
        return pd.concat(blocks, ignore_index=True)

    def _breakdown(self, events, micro_idle_thresh_us):
        return self.GPUEventAnalyser(events).get_breakdown_df(
            micro_idle_thresh_us=micro_idle_thresh_us)  # fmt: skip

    def compute_overlapping_kernels(self, events):
        mark_partners(events)

    # --- launchers ---

    def get_kernel_launchers(self, include_nccl=False, gpu_pid=None, gpu_kernel_op_cats=None):
        return find_launchers(self, include_nccl)

    def get_df_kernel_launchers(
        self,
        id_cols=False,
        include_kernel_details=False,
        include_call_stack=False,
        include_first_occurrence_time=False,
        gpu_pid=None,
        gpu_kernel_op_cats=None,
        include_args=False,
        args_cols=None,
    ):
        made = self._native.launchers(
            id_cols, include_kernel_details, include_call_stack, include_first_occurrence_time,
            args_cols)  # fmt: skip
        if made is not None:
            return made
        return launcher_rows(
            self, self.get_kernel_launchers(), id_cols, include_kernel_details, include_call_stack,
            include_first_occurrence_time, args_cols)  # fmt: skip

    @staticmethod
    def get_df_kernel_launchers_summary(df_kernel_launchers):
        return _launcher_summaries.summary(df_kernel_launchers)

    @staticmethod
    def get_df_kernel_launchers_summary_by_category(df_kernel_launchers):
        return _launcher_summaries.summary_by_category(df_kernel_launchers)

    @staticmethod
    def get_df_kernel_launchers_summary_module(df_kernel_launchers):
        return _launcher_summaries.summary_by_module(df_kernel_launchers)

    @staticmethod
    def get_df_kernel_launchers_summary_by_category_module(df_kernel_launchers):
        return _launcher_summaries.summary_by_category_and_module(df_kernel_launchers)

    @staticmethod
    def get_df_kernel_launchers_summary_by_shape(df_kernel_launchers, name):
        return _launcher_summaries.summary_by_shape(df_kernel_launchers, name)

    @staticmethod
    def get_df_kernel_launchers_unique_args(
        df_kernel_launchers,
        event_name=None,
        agg_metrics=("mean",),
        include_pct=False,
        group_by_num_kernels=False,
        group_by_parent_module=False,
        include_overlapping_kernels=False,
    ):
        return _launcher_summaries.unique_args(
            df_kernel_launchers, event_name, agg_metrics, include_pct, group_by_num_kernels,
            group_by_parent_module, include_overlapping_kernels)  # fmt: skip

    # --- kernels ---

    def get_df_kernels(self, launcher_detail=False, cpu_op_detail=True, nn_module_detail=False):
        made = self._native.kernels(launcher_detail, cpu_op_detail, nn_module_detail)
        if made is not None:
            return made
        rows = (self.get_kernel_details(event, launcher_detail, cpu_op_detail, nn_module_detail)
                for event in self.tree.events if self.event_to_category(event) == "kernel")  # fmt: skip
        return kernel_frame([row for row in rows if row is not None])

    def get_kernel_details(
        self, kernel_event, launcher_detail=False, cpu_op_detail=True, nn_module_detail=False
    ):
        return kernel_row(self, kernel_event, launcher_detail, cpu_op_detail, nn_module_detail)

    def agg_kernels_in_subtree(self, event, filter_func=None, verbose=False):
        return self.loop_and_aggregate_kernels([event], filter_func, verbose)

    def loop_and_aggregate_kernels(self, events, filter_func=None, verbose=False):
        """The summed durations of the GPU events below, and their UIDs."""
        total, uids = 0, []
        pending = list(reversed(events))
        while pending:
            event = pending.pop()
            if self.event_to_category(event) not in GPU:
                pending.extend(reversed(self.tree.get_children_events(event)))
            elif filter_func is None or filter_func(event):
                if verbose:
                    print(f"{event['name']}: {event['dur']}")
                total += event["dur"]
                uids.append(event["UID"])
        return total, uids

    @staticmethod
    def non_data_mov_filter(event):
        return not any(word in event["name"] for word in _DATA_MOVERS)

    # --- performance models ---

    def compute_perf_metrics(self, event, bwd=False, non_data_mov=False, perf_model_class=None):
        return metrics_of(self, event, bwd, non_data_mov, perf_model_class)

    def compute_fwd_perf_metrics(self, event, non_data_mov=False):
        return self.compute_perf_metrics(event, bwd=False, non_data_mov=non_data_mov)

    def compute_bwd_perf_metrics(self, event, non_data_mov=False):
        return self.compute_perf_metrics(event, bwd=True, non_data_mov=non_data_mov)

    def build_df_perf_metrics(
        self,
        events,
        bwd=False,
        non_data_mov=False,
        include_kernel_details=False,
        include_args=False,
        dict_name_to_perf_model=None,
        args_cols=None,
    ):
        return metric_rows(
            self, events, bwd, non_data_mov, include_kernel_details, include_args,
            dict_name_to_perf_model, args_cols)  # fmt: skip

    @staticmethod
    def summarize_df_perf_metrics(
        df_perf_metrics,
        agg_metrics=("mean", "std"),
        group_by_num_kernels=False,
        include_overlapping_kernels=False,
    ):
        return _metric_summaries.summarize_metrics(
            df_perf_metrics, agg_metrics, group_by_num_kernels, include_overlapping_kernels)  # fmt: skip

    # --- all ops ---

    def collect_unified_perf_events(self, include_nccl=False):
        return Collector(self, include_nccl).collect()

    def build_df_unified_perf_table(
        self,
        events=None,
        include_args=True,
        include_perf_metrics=True,
        include_kernel_details=True,
        include_nccl=False,
    ):
        if events is None:
            made = self._native.unified(
                include_args, include_perf_metrics, include_kernel_details, include_nccl)  # fmt: skip
            if made is not None:
                return made
            events = self.collect_unified_perf_events(include_nccl)
        return unified_rows(
            self, events, Collector(self, include_nccl), include_args, include_perf_metrics,
            include_kernel_details)  # fmt: skip

    @staticmethod
    def summarize_df_unified_perf_table(
        df_unified_perf,
        agg_metrics=("mean", "std"),
        include_pct=True,
        group_by_num_kernels=False,
        include_call_stack=False,
        include_overlapping_kernels=False,
        tree=None,
    ):
        return _metric_summaries.summarize_unified(
            df_unified_perf, agg_metrics, include_pct, group_by_num_kernels, include_call_stack,
            include_overlapping_kernels, tree)  # fmt: skip

    # --- modules ---

    def build_nn_module_latency_tree(self, root_nn_module):
        write_module_times(self.tree, root_nn_module)


def __getattr__(name):
    """The analyzer of JAX profiles is imported from here, too; it is made of the one above."""
    if name == "JaxTreePerfAnalyzer":
        from .jax_tree_perf import JaxTreePerfAnalyzer

        return JaxTreePerfAnalyzer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
