"""JaxTreePerfAnalyzer: tables about the kernels of a JAX profile, made by the native core."""

import os

import pandas as pd

from . import _launcher_summaries
from .tree_perf import TreePerfAnalyzer


class _Gpus:
    """Which GPUs the profile has."""

    def __init__(self, gpu_pids):
        self.gpu_pids = gpu_pids


class JaxTreePerfAnalyzer(TreePerfAnalyzer):
    """`JaxTreePerfAnalyzer.from_file("host.xplane.pb")`; a launcher is the kernel itself."""

    def __init__(self, trace, arch=None, kernel_metadata_keyword_filters=None):
        self.arch = arch
        self.kernel_metadata_keyword_filters = kernel_metadata_keyword_filters
        self.trace_metadata = trace.metadata
        self._trace = trace
        self._made = (None, {})

    @classmethod
    def from_file(cls, profile_filepath, *args, kernel_metadata_keyword_filters=None, arch=None, **kwargs):
        """Of an XPlane file, or of the folder it is in. Options of PyTorch's trees are accepted."""
        from tracelens import _native

        path = os.fspath(profile_filepath)
        if not os.path.exists(path):
            raise FileNotFoundError(2, os.strerror(2), path)
        return cls(_native.read(path), arch, kernel_metadata_keyword_filters)

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

    @property
    def gpu_event_analyser(self):
        timeline = self._table("gpu_timeline")
        return _Gpus(sorted(timeline["gpu_pid"].unique().tolist()) if len(timeline) else [])

    def get_df_gpu_timeline(self, micro_idle_thresh_us=None, gpu_pid=None):
        """The timeline of every GPU, or of one."""
        timeline = self._table("gpu_timeline")
        if gpu_pid is None or timeline.empty:
            return timeline
        return timeline[timeline["gpu_pid"] == gpu_pid].drop(columns="gpu_pid").reset_index(drop=True)

    def get_df_gpu_events_averages(self, gpu_pid=None):
        """The mean of the GPUs' timelines; of one GPU its own."""
        return self._table("gpu_events_averages") if gpu_pid is None else self.get_df_gpu_timeline(gpu_pid=gpu_pid)

    def get_df_kernel_launchers(self, *args, gpu_pid=None, **kwargs):
        """One row per kernel, with what its HLO op says of it."""
        rows = self._table("kernel_launchers")
        if gpu_pid is None or rows.empty:
            return rows
        return rows[rows["pid"] == gpu_pid].reset_index(drop=True)

    def get_df_xla_perf(self, df_kernel_launchers):
        """The rows that XLA made itself, with the bytes of their inputs."""
        rows = self._table("df_xla_perf")
        if rows.empty:
            return rows
        return rows[rows["UID"].isin(df_kernel_launchers["UID"])].reset_index(drop=True)

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
