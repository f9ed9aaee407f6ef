"""What several reports need: GPU figures, files, nodes of a cluster."""

import ast
import json
import logging
import os
import re

import pandas as pd

logger = logging.getLogger(__name__)

_ARCH_OPTIONS = ("gpu_arch_json_path", "gpu_arch_platform", "gpu_arch")


def resolve_gpu_arch(*, gpu_arch_json_path=None, gpu_arch_platform=None, gpu_arch=None):
    """The figures of the GPU as a dict, None when nothing was asked for."""
    given = [name for name, value in zip(
        _ARCH_OPTIONS, (gpu_arch_json_path, gpu_arch_platform, gpu_arch)) if value is not None]  # fmt: skip
    if len(given) > 1:
        raise ValueError(f"Provide at most one of {', '.join(_ARCH_OPTIONS)}; got {', '.join(given)}")
    if gpu_arch_json_path is not None:
        with open(gpu_arch_json_path, encoding="utf-8") as file:
            return json.load(file)
    if gpu_arch_platform is not None:
        return platform_figures(gpu_arch_platform)
    return gpu_arch


def platform_figures(name):
    from tracelens import _native

    figures = _native.scripts.gpu_figures(name)
    if figures is None:
        raise KeyError(f"Unknown GPU platform {name!r}; known are {_native.scripts.gpu_names()}")
    return figures


def add_gpu_arch_cli_args(parser):
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--gpu_arch_json_path", default=None, help="JSON file with a GPU's figures")
    group.add_argument("--gpu_arch_platform", default=None, help="a known GPU, such as MI300X")


def export_data_df(
    data_df,
    output_folder_path,
    output_filename,
    output_table_format=(".xlsx", ".csv"),
    suffix="_summary_statistics",
    verbose=0,
):
    """Writes a frame with two decimals as `<folder>/<name><suffix>` in each format."""
    formats = [output_table_format] if isinstance(output_table_format, str) else output_table_format
    stem = str(output_filename).rsplit(".", 1)[0] + suffix
    rounded = data_df.round(2)
    for ending in formats:
        path = os.path.join(str(output_folder_path), stem + ending)
        if ending == ".csv":
            rounded.to_csv(path, index=False)
        elif ending == ".xlsx":
            from ._sheets import write_workbook

            write_workbook({"Sheet1": rounded}, path)
        else:
            raise ValueError(f"{ending}: expected .csv or .xlsx")
        if verbose:
            print(f"Exported summary statistics to {path}")


def request_install(package_name):
    """Never asks and never installs: nothing that is needed here can be missing."""
    raise ImportError(f"{package_name} is not installed; install it with your package manager")


# --- nodes ---


def parse_ranks(cell):
    """The ranks of a `Process Group Ranks` cell; an empty list when it has none."""
    if isinstance(cell, (list, tuple)):
        return [int(rank) for rank in cell]
    if not isinstance(cell, str):
        return []
    try:
        found = ast.literal_eval(cell)
    except (ValueError, SyntaxError):
        return [int(digits) for digits in re.findall(r"\d+", cell)]
    return [int(rank) for rank in found if isinstance(rank, int)] if isinstance(found, (list, tuple)) else []


def add_node_span_columns(df, gpus_per_node, world_size=None):
    """Columns node_id (of a rank) and node_span (of a process group), where their sources are."""
    if gpus_per_node is None or gpus_per_node <= 0:
        raise ValueError(f"gpus_per_node must be a positive integer, got {gpus_per_node}")
    if df.empty:
        return df
    groups = df["Process Group Ranks"].map(parse_ranks) if "Process Group Ranks" in df.columns else None
    if world_size is None:
        world_size = _world_size(df, groups)
        if world_size is None:
            logger.warning("World size is not known: no node columns")
            return df
    df = df.copy()
    if "rank" in df.columns:
        node = df["rank"] // gpus_per_node
        df["node_id"] = node.where(df["rank"] < world_size) if (df["rank"] >= world_size).any() else node
    if groups is not None:
        df["node_span"] = [_span(ranks, gpus_per_node) for ranks in groups]
    return df


def _world_size(df, groups):
    if "rank" in df.columns and df["rank"].notna().any():
        return int(df["rank"].max()) + 1
    ranks = [rank for group in (groups if groups is not None else ()) for rank in group]
    return max(ranks) + 1 if ranks else None


def _span(ranks, gpus_per_node):
    if not ranks:
        return "unknown"
    return "intra_node" if len({rank // gpus_per_node for rank in ranks}) == 1 else "inter_node"


def detect_gpus_per_node(path):
    """As many as the trace lists; None when it does not say."""
    from ..util import DataLoader

    try:
        devices = DataLoader.load_data(path).get("deviceProperties")
    except (OSError, ValueError):
        return None
    return len(devices) if isinstance(devices, list) and devices else None


def is_frame(value):
    return isinstance(value, pd.DataFrame)
