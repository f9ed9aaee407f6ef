"""NcclAnalyser: the collectives of all ranks of a job."""

import errno
import logging
import os

import pandas as pd

from .._errors import MissingFile, events_of
from ..util import DataLoader
from . import _collectives, _long_table
from ._collectives import CLASS_OF

logger = logging.getLogger(__name__)

_GROUP_BY = ["rank", "Process Group Name", "Process Group Ranks", "Collective name", "Group size",
             "dtype", "In msg nelems", "Out msg nelems", "In split size", "Out split size",
             "stream"]  # fmt: skip
_MOST_RANKS, _MANY_RANKS = 1024, 256


class NcclAnalyser:
    """`NcclAnalyser([path of rank 0, ...], world_size)`; the rank of a file is its place."""

    dtype2bytes = _long_table.DTYPE_BYTES
    collective_name2type = CLASS_OF

    def __init__(
        self,
        list_profile_filepaths,
        world_size,
        use_multiprocessing=False,
        max_workers=None,
        custom_collective_patterns=None,
    ):
        self.world_size = world_size
        self.list_profile_filepaths = list(list_profile_filepaths)
        self.custom_collective_patterns = custom_collective_patterns
        self._simplified_mode = False
        logger.warning("Ranks are told by the place of their file in the list: rank i is file i.")
        for path in self.list_profile_filepaths:
            if not os.path.exists(path):
                raise MissingFile(errno.ENOENT, os.strerror(errno.ENOENT), path)

    def load_trace_data(self):
        """Communication kernels of each rank as dictionaries, which programs may change."""
        self.rank2trace_data = {}
        for rank, path in enumerate(self.list_profile_filepaths):
            events = events_of(DataLoader.load_data(path), path)
            self.rank2trace_data[rank] = [e for e in events if _long_table.is_collective(e)]

    def __getattr__(self, name):
        if name != "rank2trace_data":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self.load_trace_data()
        return self.rank2trace_data

    def build_df_long(self):
        if self.custom_collective_patterns is None and "rank2trace_data" not in self.__dict__:
            made = _long_table.native_long_table([os.fspath(path) for path in self.list_profile_filepaths])
            if made is not None:
                return self._take_long(made, len(made) > 0 and made["collective_id"].str.isdigit().all())
        patterns = self.custom_collective_patterns
        patterns = _long_table.DEFAULT_PATTERNS if patterns is None else patterns
        rows = [_long_table.collective_row(event, rank, patterns)
                for rank, events in self.rank2trace_data.items() for event in events]  # fmt: skip
        simplified = bool(rows) and _long_table.is_simplified(rows)
        return self._take_long(_long_table.long_table(rows, simplified), simplified)

    def _take_long(self, made, simplified):
        if made.empty:
            logger.warning("No collectives found in the traces.")
        self._simplified_mode = bool(simplified)
        self.df_per_rank_coll = made
        return made

    def _long(self):
        if not hasattr(self, "df_per_rank_coll"):
            self.build_df_long()
        return self.df_per_rank_coll

    def build_df_summary_long(
        self, agg_metrics=("mean", "std", "min", "max"), group_by_cols=None, include_count=True
    ):
        long = self._long()
        if long.empty:
            return pd.DataFrame()
        keys = list(_GROUP_BY if group_by_cols is None else group_by_cols)
        groups = long.groupby(keys, sort=True)
        made = pd.DataFrame({
            "In msg size (MB)_first": groups["In msg size (MB)"].first(),
            "Out msg size (MB)_first": groups["Out msg size (MB)"].first(),
            "dur_sum": groups["dur"].sum(),
        })  # fmt: skip
        for how in agg_metrics:
            if how != "sum":
                made[f"dur_{_word(how)}"] = groups["dur"].agg(how)
        if include_count:
            made["operation_count"] = groups.size()
        self.df_summary_long = _longest_first(made.reset_index(), "dur_sum")
        return self.df_summary_long

    # --- collectives in which all wait for all ---

    def build_df_nccl_implicit_sync_cat(self, detailed=False, strict_metadata_check=True):
        table = _collectives.implicit_sync(
            self._long(), self._simplified_mode, strict_metadata_check)  # fmt: skip
        self.df_implicit_sync_cat_detailed = table
        self.df_implicit_sync_cat = _collectives.without_ranks(table)
        return table if detailed else self.df_implicit_sync_cat

    def _sync(self, strict):
        if not hasattr(self, "df_implicit_sync_cat_detailed"):
            self.build_df_nccl_implicit_sync_cat(True, strict)
        return self.df_implicit_sync_cat_detailed

    def build_df_summary_nccl_implicit_sync_cat(
        self,
        agg_metrics=("mean", "std"),
        metadata_fields=("Process Group Name", "Group size", "Full msg size (MB)"),
        strict_metadata_check=True,
    ):
        table = self._sync(strict_metadata_check)
        if table.empty:
            return pd.DataFrame()
        keys = ["Collective name", "dtype", "In msg nelems"]
        table = table.copy()
        for key in keys:
            if table[key].isna().any():
                table[key] = table[key].astype(object).fillna("Unknown")
        groups = table.groupby(keys, sort=True)
        made = pd.DataFrame({field: groups[field].first() for field in metadata_fields})
        metrics = ["comm_latency", "skew in start time", "skew in end time"]
        metrics += [m for m in ("algo bw (GB/s)", "bus bw (GB/s)") if table[m].notna().any()]
        for metric in metrics:
            for how in agg_metrics:
                made[f"{metric}_{_word(how)}"] = groups[metric].agg(how)
        made["count"] = groups.size()
        made["Total comm latency (ms)"] = groups["comm_latency"].sum() / 1000
        self.df_summary_implicit_sync_cat = _longest_first(
            made.reset_index(), "Total comm latency (ms)")  # fmt: skip
        return self.df_summary_implicit_sync_cat

    def build_df_straggler_summary(self, strict_metadata_check=True):
        self.df_straggler_summary = _collectives.stragglers(
            self._sync(strict_metadata_check), self._long())  # fmt: skip
        return self.df_straggler_summary

    # --- uneven exchanges ---

    def build_df_nccl_all2allv(self, detailed=False, strict_metadata_check=True):
        table = _collectives.uneven_exchanges(self._long(), strict_metadata_check)
        self.df_all2allv_detailed = table
        self.df_all2allv = None if table is None else _collectives.without_ranks(table)
        return table if detailed else self.df_all2allv

    def build_df_summary_nccl_all2allv(
        self, agg_metrics=("mean", "std", "min", "max"), strict_metadata_check=True
    ):
        table = self.build_df_nccl_all2allv(strict_metadata_check=strict_metadata_check)
        if table is None or table.empty:
            return pd.DataFrame()
        groups = table.groupby(["Process Group Name", "dtype"], sort=True)
        made = {}
        for how in agg_metrics:
            made[f"total data communicated (MB)_{_word(how)}"] = (
                groups["total data communicated (MB)"].agg(how))  # fmt: skip
        for how in agg_metrics:
            made[f"wall_time (us)_{_word(how)}"] = groups["wall_time (us)"].agg(how)
        made["Total wall_time (us)"] = groups["wall_time (us)"].sum()
        for how in agg_metrics:
            made[f"throughput (GB/s)_{_word(how)}"] = groups["throughput (GB/s)"].agg(how)
        for metric in ("size_imbalance", "max_rank_dur (us)", "skew in start time",
                       "skew in end time"):  # fmt: skip
            for how in ("mean", "max"):
                made[f"{metric}_{how}"] = groups[metric].agg(how)
        made["count"] = groups.size()
        for field in ("Process Group Ranks", "Collective name", "Group size"):
            made[field] = groups[field].first()
        made["Total wall_time (ms)"] = made["Total wall_time (us)"] / 1000
        self.df_summary_all2allv = _longest_first(
            pd.DataFrame(made).reset_index(), "Total wall_time (ms)")  # fmt: skip
        return self.df_summary_all2allv

    def build_df_all2allv_heatmap(self, strict_metadata_check=True):
        ranks = self.world_size or len(self.list_profile_filepaths)
        if ranks > _MOST_RANKS:
            logger.warning("No heat map of %d ranks: it is made of up to %d.", ranks, _MOST_RANKS)
            return None
        if ranks > _MANY_RANKS:
            logger.warning("The heat map of %d ranks has up to %d rows.", ranks, ranks * ranks)
        return _collectives.heatmap(self._long(), self.dtype2bytes)


def _word(how):
    """What pandas calls a way to aggregate, which may be a function: np.mean is "mean"."""
    return how if isinstance(how, str) else pd.Series([0.0]).groupby([0]).agg([how]).columns[0]


def _longest_first(frame, column):
    return frame.sort_values(column, ascending=False, kind="stable").reset_index(drop=True)
