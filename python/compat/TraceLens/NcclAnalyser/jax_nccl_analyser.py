"""JaxNcclAnalyser: how fast the collectives of a JAX job on several nodes were."""

import glob
import logging
import os

import numpy as np
import pandas as pd

from ..Trace2Tree._kinds import is_communication
from ..util import DataLoader
from ._xla_dump import KINDS, collectives_of

logger = logging.getLogger(__name__)

_DUMPS = os.path.join("**", "xla_dumps", "*jit_train_step.*_gpu_after_optimizations.txt")
_ORDER = ("all-gather", "all-reduce", "all-to-all", "reduce-scatter", "collective-permute")


def collective_type(name):
    return next((kind for kind in _ORDER if name.startswith(kind)), "other")


def _moved(kind, size, ranks):
    """The bytes that an algorithm moves for a collective of `size` bytes."""
    moved = {
        "all-gather": 2 * size * (ranks - 1),
        "all-reduce": 2 * size,
        "reduce-scatter": size + size / ranks,
        "all-to-all": 2 * size * (ranks - 1) / ranks,
        "collective-permute": 2 * size,
    }
    return moved.get(kind, size)


class JaxNcclAnalyser:
    """Of one XPlane file per node, and the text that XLA dumped of the step."""

    def __init__(
        self, traces_dir, node_to_pb_file_mapping, world_size, node_to_xla_file_map=None, gpus_per_node=8
    ):
        self.traces_dir = traces_dir
        self.node_to_pb_file_mapping = node_to_pb_file_mapping
        self.world_size = world_size
        self.node_to_xla_file_map = node_to_xla_file_map
        self.gpus_per_node = gpus_per_node
        self.node_to_trace_data = {}
        self.load_trace_data()
        self.build_collectives_df_through_xla()

    def load_trace_data(self):
        """Communication events of each node, in file order."""
        self.node_to_trace_data = {}
        for node, path in self.node_to_pb_file_mapping.items():
            events = DataLoader.load_data(os.fspath(path))["traceEvents"]
            self.node_to_trace_data[node] = [
                event for event in events
                if is_communication(event.get("name", "")) or _is_collective(event)]  # fmt: skip

    # --- the dump ---

    def find_xla_dumps(self):
        """For each node the dump whose path begins most like that of its profile."""
        dumps = sorted(glob.glob(os.path.join(self.traces_dir, _DUMPS), recursive=True))
        if not dumps:
            raise FileNotFoundError(f"No XLA dump of jit_train_step below {self.traces_dir}")
        found = {}
        for node, profile in self.node_to_pb_file_mapping.items():
            own = os.path.relpath(profile, self.traces_dir)
            shared = [len(os.path.commonprefix([own, os.path.relpath(dump, self.traces_dir)])) for dump in dumps]
            if max(shared) > 0:
                found[node] = dumps[shared.index(max(shared))]
        return found

    def build_collectives_df_through_xla(self):
        if self.node_to_xla_file_map is None:
            self.node_to_xla_file_map = self.find_xla_dumps()
        rows = []
        for node, path in self.node_to_xla_file_map.items():
            with open(path, encoding="utf-8") as file:
                rows += collectives_of(file, node)
        self.df_xla_collectives = pd.DataFrame(rows)
        return self.df_xla_collectives

    # --- the events ---

    def build_df_long(self):
        """One row per communication event, with what the dump says of its collective."""
        known = {}
        for row in self.df_xla_collectives.to_dict("records"):
            known.setdefault((row["node"], row["collective_name"]), row)
        rows = []
        for node, events in self.node_to_trace_data.items():
            for event in events:
                args = event.get("args") or {}
                name = args.get("hlo_op", "unknown")
                said = known.get((node, name), {})
                rows.append({
                    "node": node, "gpu_rank": int(node) * self.gpus_per_node + event["pid"] - 1,
                    "pid": event["pid"], "ts": event["ts"], "dur": event["dur"], "collective_name": name,
                    "hlo_module": args.get("hlo_module"), "correlation_id": args.get("correlation_id"),
                    "replica_string": said.get("replica_string"), "replica_groups": said.get("replica_groups"),
                    "data(bytes)": said.get("data(bytes)"), "process_name": args.get("process_name"),
                })  # fmt: skip
        long = pd.DataFrame(rows)
        if not long.empty:
            order = long.sort_values("ts", kind="stable")
            number = order.groupby(["collective_name", "pid", "node"]).cumcount()
            long["index_in_group"] = number.reindex(long.index)
            long["collective_id"] = long["collective_name"] + "_" + long["index_in_group"].astype(str)
        self.df_long = long
        return long

    # --- bandwidth ---

    @staticmethod
    def get_bus_bandwidth_scaler(collective_name, group_size):
        """What of the algorithm's bytes goes over the busiest link."""
        scalers = {
            "all-gather": (group_size - 1) / group_size,
            "all-reduce": 2 * (group_size - 1) / group_size,
            "reduce-scatter": (group_size - 1) / group_size,
            "all-to-all": (group_size - 1) / group_size,
        }
        return scalers.get(collective_type(collective_name), 1.0)

    def bandwidth_of_group(self, name, number, group, rows):
        """Of one replica group in one call; None when no rank of it is in the traces."""
        present = rows[rows["gpu_rank"].isin(group)]
        if present.empty or present["dur"].min() <= 0:
            return None
        fastest = present.loc[present["dur"].idxmin()]
        size, ranks = fastest["data(bytes)"], len(group)
        moved = _moved(collective_type(name), size, ranks)
        speed = moved / 2**30 / (fastest["dur"] / 1e6)
        scaler = self.get_bus_bandwidth_scaler(name, ranks)
        return {
            "group_idx": number, "gpu_group": group, "gpus_in_data": present["gpu_rank"].tolist(),
            "bandwidth_gbps": speed, "algorithmic_bandwidth_gbps": speed, "bus_bandwidth_gbps": speed * scaler,
            "bus_bandwidth_scaler": scaler, "duration_us": fastest["dur"],
            "fastest_gpu_rank": fastest["gpu_rank"], "algorithmic_bytes": moved,
            "group_data_size_bytes": size, "actual_group_size": ranks, "participants_in_data": len(present),
        }  # fmt: skip

    def calculate_bandwidths(self):
        """By collective: what its calls reached, each the mean of its replica groups."""
        long = getattr(self, "df_long", None)
        long = self.build_df_long() if long is None else long
        found = {}
        for name, calls in long.groupby("collective_name", sort=False) if len(long) else ():
            slices = []
            for identity, rows in calls.groupby("collective_id", sort=False):
                texts = rows["replica_string"].dropna().unique()
                if len(texts) != 1:
                    logger.warning("%s: %d kinds of replica groups, left out", identity, len(texts))
                    continue
                groups = rows["replica_groups"].dropna().iloc[0]
                each = [self.bandwidth_of_group(name, at, group, rows) for at, group in enumerate(groups)]
                each = [one for one in each if one is not None]
                if each:
                    slices.append({
                        "collective_id": identity, "groups": each,
                        "bandwidth": np.mean([one["bandwidth_gbps"] for one in each]),
                        "bus_bandwidth": np.mean([one["bus_bandwidth_gbps"] for one in each]),
                    })  # fmt: skip
            if slices:
                found[name] = {
                    "bandwidths": [each["bandwidth"] for each in slices],
                    "bus_bandwidths": [each["bus_bandwidth"] for each in slices],
                    "avg_bandwidth": np.mean([each["bandwidth"] for each in slices]),
                    "avg_bus_bandwidth": np.mean([each["bus_bandwidth"] for each in slices]),
                    "slice_info": slices, "num_slices": len(slices),
                    "data_size_bytes": calls["data(bytes)"].iloc[0],
                }  # fmt: skip
        return found

    def summarize_by_type(self):
        """One row per kind of collective, the fastest first."""
        by_type = {}
        for name, each in self.calculate_bandwidths().items():
            by_type.setdefault(collective_type(name), []).append(each)
        rows = []
        for kind, found in by_type.items():
            row = {"Type": kind, "num_operations": len(found), "total_slices": sum(each["num_slices"] for each in found)}
            for prefix, key in (("", "bandwidths"), ("bus_", "bus_bandwidths")):
                values = np.concatenate([each[key] for each in found])
                row["total_measurements"] = len(values)
                for how, value in (("avg", values.mean()), ("median", np.median(values)), ("min", values.min()),
                                   ("max", values.max()), ("std", values.std()), ("p25", np.percentile(values, 25)),
                                   ("p75", np.percentile(values, 75))):  # fmt: skip
                    row[f"{how}_{prefix}bandwidth_gbps"] = value
            row["avg_data_size_mb"] = np.mean([each["data_size_bytes"] for each in found]) / 2**20
            rows.append(row)
        made = pd.DataFrame(rows)
        return made.sort_values("avg_bandwidth_gbps", ascending=False, kind="stable") if rows else made


def _is_collective(event):
    return any(kind in ((event.get("args") or {}).get("hlo_op") or "") for kind in KINDS)
