"""The collectives of all ranks of a job, as one call or one command."""

import glob
import logging
import os
import re

from ..NcclAnalyser.nccl_analyser import NcclAnalyser
from ._arguments import Arguments
from ._sheets import beside_or_here, write_sheets
from .reporting_utils import add_node_span_columns, detect_gpus_per_node

logger = logging.getLogger(__name__)

RANK_REGEX = r"rank[\[\-_/]?(?P<rank>\d+)"
_METRICS = ("mean", "median", "min", "max")


def generate_collective_report(
    trace_dir=None,
    trace_pattern=None,
    trace_glob=None,
    world_size=None,
    output_xlsx_path=None,
    output_csvs_dir=None,
    detailed_analysis=True,
    agg_metrics=_METRICS,
    strict_world_size_check=True,
    use_multiprocessing=False,
    max_workers=None,
    rank_regex=RANK_REGEX,
    gpus_per_node=None,
    all2allv_heatmap=False,
):
    """A dict from sheet to DataFrame; written as CSV files, or as a workbook beside the traces."""
    if world_size is None:
        raise ValueError("world_size must be provided")
    if sum(source is not None for source in (trace_dir, trace_pattern, trace_glob)) != 1:
        raise ValueError("Provide exactly one of trace_dir, trace_pattern, or trace_glob")
    paths = rank_files(trace_dir, trace_pattern, trace_glob, world_size, rank_regex,
                       strict_world_size_check)  # fmt: skip
    if gpus_per_node is not None and gpus_per_node <= 0:
        raise ValueError(f"--gpus_per_node must be a positive integer, got {gpus_per_node}")
    if gpus_per_node is None:
        gpus_per_node = detect_gpus_per_node(paths[0])
    analyser = NcclAnalyser(paths, world_size, use_multiprocessing, max_workers)
    sheets = _sheets(analyser, list(agg_metrics), detailed_analysis, all2allv_heatmap)
    if gpus_per_node is not None:
        sheets = {name: add_node_span_columns(sheet, gpus_per_node, world_size)
                  for name, sheet in sheets.items()}  # fmt: skip
    if output_xlsx_path is None and output_csvs_dir is None:
        folder = trace_dir if trace_dir is not None else _common_folder(paths)
        output_xlsx_path = beside_or_here(os.path.join(folder, "nccl_analysis_report.xlsx"))
    write_sheets(sheets, output_xlsx_path, output_csvs_dir)
    return sheets


def _sheets(analyser, metrics, detailed, heatmap):
    sheets = {
        "nccl_summary_implicit_sync": analyser.build_df_summary_nccl_implicit_sync_cat(metrics),
        "nccl_summary_long": analyser.build_df_summary_long(),
    }
    sheets["nccl_summary_all2allv"] = analyser.build_df_summary_nccl_all2allv(metrics)
    if heatmap:
        sheets["nccl_all2allv_heatmap"] = analyser.build_df_all2allv_heatmap()
    if detailed:
        sheets["nccl_long"] = analyser.df_per_rank_coll
        sheets["nccl_implicit_sync"] = analyser.build_df_nccl_implicit_sync_cat(detailed=True)
        sheets["nccl_all2allv"] = analyser.build_df_nccl_all2allv(detailed=True)
    sheets["straggler_summary"] = analyser.build_df_straggler_summary()
    always = ("nccl_summary_implicit_sync", "nccl_summary_long", "nccl_long", "nccl_implicit_sync")
    return {name: sheet for name, sheet in sheets.items()
            if sheet is not None and (name in always or not sheet.empty)}  # fmt: skip


# --- which file is which rank ---


def rank_files(trace_dir, trace_pattern, trace_glob, world_size, rank_regex, strict):
    if trace_glob is not None:
        return _by_glob(os.fspath(trace_glob), rank_regex, world_size)
    if trace_dir is not None:
        pattern = os.path.join(os.fspath(trace_dir), "rank*_trace.json")
        wanted = [_packed_if_only_that(os.path.join(os.fspath(trace_dir), f"rank{rank}_trace.json"))
                  for rank in range(world_size)]  # fmt: skip
    else:
        pattern = os.fspath(trace_pattern)
        if pattern.count("*") != 1:
            raise ValueError("trace_pattern must contain exactly one '*' character as a placeholder for rank id")
        wanted = [pattern.replace("*", str(rank)) for rank in range(world_size)]
    found = []
    for path in wanted:
        if os.path.exists(path):
            found.append(path)
        elif strict:
            raise FileNotFoundError(f"Expected trace file not found: {path}")
        else:
            logger.warning("Expected trace file not found, left out: %s", path)
    if not found:
        raise FileNotFoundError(f"No trace files found: {pattern}")
    return found


def _packed_if_only_that(path):
    return path + ".gz" if not os.path.exists(path) and os.path.exists(path + ".gz") else path


def _by_glob(pattern, rank_regex, world_size):
    matches = sorted(glob.glob(pattern, recursive=True))
    if not matches:
        raise FileNotFoundError(f"No files matched --trace_glob: {pattern}")
    ranks = {}
    for path in matches:
        rank = _rank_of(path, re.compile(rank_regex))
        if rank is not None:
            ranks.setdefault(rank, path)
    if not ranks:
        raise ValueError(f"--trace_glob matched {len(matches)} file(s), but none matched --rank_regex '{rank_regex}'")
    missing = [rank for rank in range(world_size) if rank not in ranks]
    if missing:
        raise FileNotFoundError(f"Missing ranks after glob resolution: {missing}. Found ranks: {sorted(ranks)}")
    return [ranks[rank] for rank in range(world_size)]


def _rank_of(path, regex):
    found = regex.search(os.path.basename(path)) or regex.search(path)
    if found is None:
        return None
    text = found.groupdict().get("rank") or (found.group(1) if regex.groups else None)
    return int(text) if text is not None and text.isdigit() else None


def _common_folder(paths):
    folder = os.path.commonpath([os.path.abspath(path) for path in paths])
    return os.path.dirname(folder) if os.path.isfile(folder) else folder


def main():
    flags = Arguments("TraceLens_generate_multi_rank_collective_report_pytorch",
                      "The collectives of all ranks of a job")  # fmt: skip
    flags.either("trace_dir", "trace_pattern", "trace_glob", required=True, help="where the traces are")
    flags.add("rank_regex", default=RANK_REGEX, help="how --trace_glob finds the rank in a path")
    flags.add("world_size", type=int, help="number of ranks")
    flags.output()
    flags.switch("no_detailed_analysis", "leave the sheets with a row per event out", off="detailed_analysis")
    flags.add("detailed_analysis", dest="detailed_analysis", action="store_true", default=True,
              help="sheets with a row per event; the default")  # fmt: skip
    flags.add("agg_metrics", nargs="+", default=list(_METRICS), help="how to sum up")
    flags.switch("use_multiprocessing", "accepted: traces are read in parallel anyway")
    flags.add("max_workers", type=int, help="threads to read with")
    flags.add("gpus_per_node", type=int, help="for the node columns")
    flags.switch("all2allv_heatmap", "sheet of who sends how much to whom")
    generate_collective_report(**flags.parse())


if __name__ == "__main__":
    main()
