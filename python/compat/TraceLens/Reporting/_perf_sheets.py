"""The sheets of the performance report from an analyzer's tables: with the user's models and tree.

Reports without anything of the user's come from the native core; see generate_perf_report_pytorch.
"""

import pandas as pd

from .._chatter import chat
from ..PerfModel.torch_op_mapping import build_sheet_category_to_op_names
from ..TreePerf._groups import AGGREGATES
from ..TreePerf._kernel_stats import shortened
from ._kernel_sheets import kernel_summary, short_kernels

_METRICS = list(AGGREGATES)
_SINGLE = ("GEMM", "UnaryElementwise", "BinaryElementwise", "Normalization")
_NO_BACKWARD = "vllm::unified_attention_with_output"
# Backward ops with a model of their own are listed with the others of their pass.
_RECORDED_BACKWARD = ("flash_attn::_flash_attn_varlen_backward", "aten::convolution_backward",
                      "ConvBias_Backward", "ConvBiasReLU_Backward")  # fmt: skip
_FORWARD_OF_THOSE = ("aten::convolution", "aten::miopen_convolution", "aten::cudnn_convolution",
                     "ConvBias_", "ConvBiasReLU_")  # fmt: skip


def trunc_kernel_details(row, col, trunc_length=64):
    return shortened(row[col], trunc_length)


def add_truncated_kernel_details(
    df, source_col="kernel_details_summary", new_col_name="trunc_kernel_details", trunc_length=64
):
    """The frame with a column behind `source_col` that has its kernels with short names."""
    if source_col not in df.columns:
        return df
    at = df.columns.get_loc(source_col) + 1
    df = df.drop(columns=new_col_name, errors="ignore")
    cells = pd.Series([shortened(cell, trunc_length) for cell in df[source_col]], index=df.index, dtype=object)
    df.insert(at, new_col_name, cells)
    return df


def _with_short_kernels(df, suffix):
    df = add_truncated_kernel_details(df, "kernel_details" + suffix)
    return add_truncated_kernel_details(
        df, "overlapping_kernels_details" + suffix, "trunc_overlapping_kernels_details")  # fmt: skip


def perf_sheets(analyzer, options):
    sheets = {"gpu_timeline": analyzer.get_df_gpu_timeline(options["micro_idle_thresh_us"])}
    timeline = sheets["gpu_timeline"]
    analyzer.total_time_ms = timeline.loc[timeline["type"] == "total_time", "time ms"].iloc[0]
    if analyzer.gpu_only:
        chat("Detected GPU-only trace. Only the timeline and kernel tables are made.")
    else:
        sheets.update(_op_sheets(analyzer, options))
        families = _family_sheets(analyzer, options)
        sheets.update(_unified_sheets(analyzer, options))
        sheets.update(families)
    if options["kernel_summary"]:
        sheets["kernel_summary"] = kernel_summary(analyzer)
    kept = {name: sheet for name, sheet in sheets.items() if not sheet.empty}
    if options["short_kernel_study"]:
        kept["short_kernel_histogram"], kept["short_kernels_summary"] = short_kernels(
            analyzer, options["short_kernel_threshold_us"], options["short_kernel_histogram_bins"],
            options["topk_short_kernels"])  # fmt: skip
    return kept


def _op_sheets(analyzer, options):
    by_module = options.get("group_by_parent_module", False)
    df = analyzer.get_df_kernel_launchers(
        include_kernel_details=True, include_call_stack=by_module,
        include_first_occurrence_time=options.get("include_first_occurrence_time", False))  # fmt: skip
    if df.empty:
        return {}
    if by_module:
        sheets = {
            "ops_summary_by_category": analyzer.get_df_kernel_launchers_summary_by_category_module(df),
            "ops_summary": analyzer.get_df_kernel_launchers_summary_module(df),
        }
    else:
        sheets = {
            "ops_summary_by_category": analyzer.get_df_kernel_launchers_summary_by_category(df),
            "ops_summary": analyzer.get_df_kernel_launchers_summary(df),
        }
    for name, overlap in _variants("ops_unique_args", options):
        unique = analyzer.get_df_kernel_launchers_unique_args(
            df, agg_metrics=_METRICS, include_pct=True,
            group_by_num_kernels=options["group_by_num_kernels"], group_by_parent_module=by_module,
            include_overlapping_kernels=overlap)  # fmt: skip
        sheets[name] = _with_short_kernels(unique, "_summary")
    return sheets


def _variants(sheet, options):
    yield sheet, False
    if options["include_overlap_info"]:
        yield sheet + "_kl_overlap", True


def _unified_sheets(analyzer, options):
    df = analyzer.build_df_unified_perf_table()
    if df.empty:
        return {}
    sheets = {}
    for name, overlap in _variants("unified_perf_summary", options):
        made = analyzer.summarize_df_unified_perf_table(
            df, agg_metrics=_METRICS, include_pct=True,
            group_by_num_kernels=options["group_by_num_kernels"],
            include_call_stack=options["include_call_stack"] and not overlap,
            include_overlapping_kernels=overlap, tree=analyzer.tree)  # fmt: skip
        sheets[name] = _with_short_kernels(made, "_summary")
    return sheets


def _family_sheets(analyzer, options):
    families = build_sheet_category_to_op_names(analyzer.op_to_perf_model_class_map)
    family_of = {name: family for family, names in families.items() for name in names}
    members = {family: [] for family in families}
    for event in analyzer.tree.events:
        family = family_of.get(event.get("name"))
        if family is not None:
            members[family].append(event)
    sheets = {}
    for family, events in members.items():
        if events:
            sheets.update(_sheets_of_family(analyzer, family, events, options))
    return sheets


def _sheets_of_family(analyzer, family, events, options):
    forward = _metrics(analyzer, events, False)
    backward = pd.DataFrame()
    if family not in _SINGLE:
        backward = _metrics(analyzer, [e for e in events if e["name"] != _NO_BACKWARD], True)
    sheets = {}
    for ending, overlap in _variants("", options):
        there = _summary(analyzer, forward, options, overlap)
        if family in _SINGLE:
            sheets[family + ending] = there
            continue
        back = _summary(analyzer, backward, options, overlap)
        there, back = _recorded_backward_moved(there, back)
        sheets[f"{family}_fwd{ending}"] = there
        sheets[f"{family}_bwd{ending}"] = back
    return sheets


def _metrics(analyzer, events, bwd):
    if not events:
        return pd.DataFrame()
    return analyzer.build_df_perf_metrics(events, bwd=bwd, include_kernel_details=True, include_args=True)


def _summary(analyzer, df, options, overlap):
    if df.empty:
        return df
    made = analyzer.summarize_df_perf_metrics(
        df, _METRICS, group_by_num_kernels=options["group_by_num_kernels"],
        include_overlapping_kernels=overlap)  # fmt: skip
    return _with_short_kernels(made, "__summarize_kernel_stats")


def _recorded_backward_moved(forward, backward):
    if not forward.empty:
        recorded = forward["name"].isin(_RECORDED_BACKWARD)
        if recorded.any():
            backward = pd.concat([backward, forward[recorded]], ignore_index=True)
            forward = forward[~recorded].reset_index(drop=True)
    if not backward.empty:
        backward = backward[~backward["name"].isin(_FORWARD_OF_THOSE)].reset_index(drop=True)
    return forward, backward
