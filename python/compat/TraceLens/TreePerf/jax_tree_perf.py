"""JaxTreePerfAnalyzer: tables about the kernels of a JAX profile, made by the native core."""

import os
import warnings

import pandas as pd

from .._errors import MissingFile
from ..PerfModel.jax_op_mapping import jax_op_to_perf_model_class_map
from ..Trace2Tree.trace_to_tree import JaxTraceToTree
from ..util import DataLoader
from . import _launcher_summaries
from ._jax_metrics import JaxMetrics
from ._launchers import Names
from ._native_tables import NativeTables
from .gpu_event_analyser import JaxGPUEventAnalyser
from .tree_perf import TreePerfAnalyzer

_FIGURES = ("total_direct_kernel_time", "total_subtree_kernel_time", "direct_kernel_count", "kernel_details",
            "op category", "GPU_kernel_launch_latency")  # fmt: skip


def category_on_event(event):
    return event.get("cat")


def kernel_category_on_event(event):
    return event.get("gpu_kernel_op_cat")


class JaxTreePerfAnalyzer(TreePerfAnalyzer):
    """`JaxTreePerfAnalyzer.from_file("host.xplane.pb")`; a launcher is the kernel itself."""

    def __init__(
        self,
        tree=None,
        add_python_func=False,
        arch=None,
        jax=True,
        python_path=None,
        event_to_category=category_on_event,
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
        """`pb_file_name`: the profile, which the tables are made of. Options of PyTorch's trees are accepted."""
        from tracelens import _native

        if pb_file_name is None:
            raise ValueError("pb_file_name must name the profile (*.xplane.pb)")
        path = os.fspath(pb_file_name)
        if not os.path.exists(path):
            raise MissingFile(2, os.strerror(2), path)
        self._path = path
        self._trace = _native.read(path)
        self._made = (None, {})
        self._native = NativeTables(self)
        self.jax, self.arch, self.python_path = True, arch, python_path
        self.kernel_metadata_keyword_filters = kernel_metadata_keyword_filters
        self.trace_metadata = self._trace.metadata
        self.event_to_category, self.op_categorizer = event_to_category, kernel_category_on_event
        self.add_python_func, self.include_unlinked_kernels = add_python_func, include_unlinked_kernels
        self.detect_recompute, self.enable_origami = False, enable_origami
        self.inductor_cache_dir = inductor_cache_dir
        self.GPUEventAnalyser = JaxGPUEventAnalyser
        self.op_to_perf_model_class_map = jax_op_to_perf_model_class_map
        if tree is not None:
            self._tree = tree
            if rebuild_tree:
                tree.build_tree(add_python_func)
        if tree_postprocess_extension is not None:
            tree_postprocess_extension(self.tree)

    @classmethod
    def from_file(cls, profile_filepath, *args, **kwargs):
        """Of an XPlane file, or of the folder it is in; further arguments are the constructor's, after `tree`."""
        kwargs.setdefault("pb_file_name", os.fspath(profile_filepath))
        return cls(None, *args, **kwargs)

    def __getstate__(self):
        return {**self.__dict__, "_trace": None, "_made": (None, {})}

    def __setstate__(self, state):
        from tracelens import _native

        self.__dict__.update(state)
        self._trace = _native.read(self._path)

    @property
    def tree(self):
        """The profile's events as dictionaries, with the UIDs that the tables have; made when first asked for."""
        if "_tree" not in self.__dict__:
            tree = JaxTraceToTree(DataLoader.load_data(self._profile())["traceEvents"])
            _take_uids(tree, self._launchers())
            tree.build_tree(self.add_python_func)
            self._tree = tree
        return self._tree

    def _profile(self):
        if not os.path.isdir(self._path):
            return self._path
        found = sorted(os.path.join(folder, name) for folder, _, names in os.walk(self._path) for name in names
                       if name.endswith((".xplane.pb", ".xplane.pb.gz")))  # fmt: skip
        return found[0] if found else self._path

    def _table(self, name):
        """A sheet of the reference's JAX report; an empty frame when the profile has none."""
        from tracelens import _native
        from tracelens._frames import frame

        words = tuple(self.kernel_metadata_keyword_filters or ())
        if self._made[0] != words:
            options = {"edition": "reference", "gpu_from_trace": False, "without": ["warnings"],
                       "op_keywords": list(words)}  # fmt: skip
            self._made = (words, {table.name: table for table in _native.report(self._trace, options).tables})
        table = self._made[1].get(name)
        if table is None:
            return pd.DataFrame()
        made = frame(table)
        made.attrs = {}
        return made

    def _launchers(self):
        return self._table("kernel_launchers")

    @property
    def gpu_event_analyser(self):
        return JaxGPUEventAnalyser(self.tree.events)

    def get_df_gpu_timeline(self, micro_idle_thresh_us=None, gpu_pid=None):
        """The timeline of every GPU, or of one."""
        timeline = self._table("gpu_timeline")
        if gpu_pid is None or timeline.empty:
            return timeline
        return timeline[timeline["gpu_pid"] == gpu_pid].drop(columns="gpu_pid").reset_index(drop=True)

    def get_df_gpu_events_averages(self, gpu_pid=None):
        """The mean of the GPUs' timelines; of one GPU its own."""
        return self._table("gpu_events_averages") if gpu_pid is None else self.get_df_gpu_timeline(gpu_pid=gpu_pid)

    def _chosen_launchers(self, gpu_pid, gpu_kernel_op_cats):
        rows = self._launchers()
        if gpu_pid is not None and len(rows):
            rows = rows[rows["pid"] == gpu_pid]
        if gpu_kernel_op_cats is not None and len(rows):
            rows = rows[rows["op category"].isin(list(gpu_kernel_op_cats))]
        return rows.reset_index(drop=True)

    def get_kernel_launchers(self, include_nccl=False, gpu_pid=None, gpu_kernel_op_cats=None):
        """The events of the kernels, with their figures on them."""
        rows = self._chosen_launchers(gpu_pid, gpu_kernel_op_cats)
        found = []
        for row in rows.to_dict("records"):
            event = self.tree.get_UID2event(row["UID"])
            event.update((key, row[key]) for key in _FIGURES)
            found.append(event)
        return found

    def get_df_kernel_launchers(
        self,
        id_cols=False,
        include_kernel_details=False,
        include_call_stack=False,
        include_first_occurrence_time=False,
        gpu_pid=None,
        gpu_kernel_op_cats=None,
        include_args=True,
        args_cols=None,
    ):
        """One row per kernel, with what its HLO op says of it."""
        rows = self._chosen_launchers(gpu_pid, gpu_kernel_op_cats)
        return rows if include_kernel_details or rows.empty else rows.drop(columns="kernel_details")

    def get_df_xla_perf(self, df_kernel_launchers):
        """The rows that XLA made itself, with the bytes of their inputs."""
        rows = self._table("df_xla_perf")
        if rows.empty:
            return rows
        return rows[rows["UID"].isin(df_kernel_launchers["UID"])].reset_index(drop=True)

    # --- performance models ---

    def _metrics(self):
        return JaxMetrics(self._launchers(), [self._table(name) for name in self._made[1] if name.startswith("op_")])

    def compute_perf_metrics(self, event, bwd=False, non_data_mov=False, perf_model_class=None):
        found = self._metrics().of(event["UID"], event["dur"])
        if found is None:
            raise TypeError("'NoneType' object is not callable")
        return found

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
        """One row per event that has a model."""
        if not events:
            warnings.warn("Input list of events is empty. Returning an empty DataFrame.", UserWarning)
            return pd.DataFrame()
        metrics, names = self._metrics(), Names(self.tree.metadata)
        rows = []
        for event in events:
            found = metrics.of(event["UID"], event["dur"])
            if found is None:
                continue
            row = {key: event.get(key) for key in ("name", "UID", "pid")}
            row["process_name"], row["process_label"], row["thread_name"] = names.of(event)
            row.update(dur=event["dur"], cat=event.get("cat"))
            row["op category"], row["perf model"] = event.get("gpu_kernel_op_cat"), metrics.model_of(event["UID"])
            row.update(found)
            row.update(metrics.more_of(event["UID"], include_args, include_kernel_details))
            rows.append(row)
        return pd.DataFrame(rows)

    @staticmethod
    def get_df_kernel_launchers_summary(df_kernel_launchers):
        made = _launcher_summaries.summary(df_kernel_launchers)
        return _per_gpu(made, df_kernel_launchers)

    @staticmethod
    def get_df_kernel_launchers_summary_by_category(df_kernel_launchers):
        made = _launcher_summaries.summary_by_category(df_kernel_launchers)
        return _per_gpu(made, df_kernel_launchers)


def _per_gpu(made, rows):
    gpus = rows["pid"].nunique() if "pid" in rows.columns else 0
    if gpus:
        made["time ms per gpu"] = made["total_direct_kernel_time_ms"] / gpus
    return made


def _take_uids(tree, rows):
    """Viewers count lines of their own after a GPU's streams: the first kernel of each GPU tells where it starts."""
    first = rows.drop_duplicates("pid").set_index("pid")["UID"].to_dict() if len(rows) else {}
    by_gpu = {}
    for event in tree.events:
        by_gpu.setdefault(event.get("pid"), []).append(event)
    free = 0
    for pid, events in sorted(by_gpu.items(), key=lambda each: each[0] or 0):
        events.sort(key=lambda event: (event.get("tid", 0) % 2**32, event.get("ts", 0), -event.get("dur", 0)))
        if pid in first:
            place = next((at for at, event in enumerate(events) if event["cat"] == "kernel"), 0)
            free = max(free, first[pid] - place)
        for uid, event in enumerate(events, free):
            event["UID"] = uid
        free += len(events)
    tree.events.sort(key=lambda event: event["UID"])
    tree.events_by_uid = {event["UID"]: event for event in tree.events}
    for uid, category in zip(rows["UID"].tolist(), rows["op category"].tolist()) if len(rows) else ():
        if uid in tree.events_by_uid:
            tree.events_by_uid[uid]["gpu_kernel_op_cat"] = category  # of what the HLO module says, too
