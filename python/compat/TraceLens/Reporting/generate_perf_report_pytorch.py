"""The performance report of a PyTorch trace, as one call or one command."""

import json
import logging
import os
import tempfile

from .._errors import reading_natively
from ..TreePerf._builtin import has_own_models
from ..TreePerf.tree_perf import TreePerfAnalyzer
from ._arguments import Arguments
from ._extension import apply_hooks, load_extension, more_sheets
from ._kernel_sheets import short_kernels
from ._other_trace import with_other_trace
from ._perf_sheets import add_truncated_kernel_details, perf_sheets, trunc_kernel_details
from ._sheets import beside_or_here, frames_of, write_sheets
from ._texts import with_texts
from .reporting_utils import resolve_gpu_arch

__all__ = [
    "add_truncated_kernel_details",
    "apply_extension",
    "generate_perf_report_pytorch",
    "get_dfs_short_kernels",
    "main",
    "trunc_kernel_details",
]

logger = logging.getLogger(__name__)

# Ops whose work depends on the requests of their step, which an annotation around them tells.
_ANNOTATED = [
    "vllm::unified_attention_with_output", "aiter::mha_varlen_fwd", "pseudo_mla_decode_fwd",
    "pseudo_mla_prefill_fwd", "vllm::gdn_attention_core", "aiter::fmha_v3_varlen_fwd",
    "sglang_profiler::tilelang_kernel_tilelang_sparse_fwd",
    "sglang_profiler::attention_paged_attention_ragged", "aiter::mha_batch_prefill", "aiter::pa_decode_gluon",
    "aiter::v4_attention_with_output", "pseudo_v4_paged_decode_swa", "pseudo_v4_paged_decode_csa",
    "pseudo_v4_paged_decode_hca", "aiter::linear_attention_with_output_base",
]  # fmt: skip


def get_dfs_short_kernels(
    perf_analyzer, short_kernel_threshold_us=10, histogram_bins=100, topk=None
):
    """(histogram, summary) of the kernels shorter than the threshold."""
    return short_kernels(perf_analyzer, short_kernel_threshold_us, histogram_bins, topk)


def apply_extension(perf_analyzer, extension_path):
    """Runs the hooks of an extension file on an analyzer, and registers its models and categories."""
    apply_hooks(perf_analyzer, load_extension(os.fspath(extension_path)))


def generate_perf_report_pytorch(
    profile_json_path,
    output_xlsx_path=None,
    output_csvs_dir=None,
    include_unlinked_kernels=False,
    enable_pseudo_ops=False,
    micro_idle_thresh_us=None,
    collective_analysis=True,
    include_overlap_info=False,
    include_first_occurrence_time=False,
    kernel_summary=False,
    short_kernel_study=False,
    short_kernel_threshold_us=10,
    short_kernel_histogram_bins=100,
    topk_short_kernels=None,
    topk_ops=None,
    topk_roofline_ops=None,
    comparison_json_path=None,
    extension_file=None,
    python_path=None,
    gpu_arch_json_path=None,
    gpu_arch_platform=None,
    gpu_arch=None,
    inductor_cache_dir=None,
    group_by_num_kernels=False,
    enable_origami=False,
    detect_recompute=False,
    include_call_stack=False,
):
    """A dict from sheet to DataFrame. Writes CSV files into a folder that is given, and a workbook
    when one is given or no folder is."""
    options = dict(locals())
    return report(options, inference=False)


def report(options, inference):
    """Of the options of either report: by the core, unless something of the user's takes part."""
    path = os.fspath(options["profile_json_path"])
    options["profile_json_path"] = path
    arch = resolve_gpu_arch(
        gpu_arch_json_path=options["gpu_arch_json_path"],
        gpu_arch_platform=options["gpu_arch_platform"], gpu_arch=options["gpu_arch"])  # fmt: skip
    own = options["extension_file"] is not None or options["enable_origami"] or has_own_models()
    own = own or options.get("augmented_tree") is not None
    micro_idle = options["micro_idle_thresh_us"]
    own = own or (micro_idle is not None and micro_idle != int(micro_idle))  # the core counts whole ones
    sheets = _assembled(options, arch, inference) if own else _native(options, arch, inference)
    workbook = options["output_xlsx_path"]
    if workbook is None and options["output_csvs_dir"] is None:
        workbook = beside_or_here((path.rpartition(".json")[0] or path) + "_perf_report.xlsx")
    write_sheets(sheets, workbook, options["output_csvs_dir"])
    return sheets


def _native(options, arch, inference):
    from tracelens import _native as native

    without = ["idle", "warnings"]
    if inference or not options["collective_analysis"]:
        without.append("collectives")
    if not options["kernel_summary"]:
        without.append("kernel-summary")
    if not options["short_kernel_study"]:
        without.append("short-kernels")
    chosen = {
        "edition": "reference",
        "achievable_peaks": True,
        "gpu_from_trace": False,
        "inference": inference,
        "without": without,
        "also": ["overlap"] if options["include_overlap_info"] else [],
        "include_unlinked": options["include_unlinked_kernels"],
        "micro_idle_us": None if options["micro_idle_thresh_us"] is None else int(options["micro_idle_thresh_us"]),
        "short_kernel_us": float(options["short_kernel_threshold_us"]),
        "histogram_bins": options["short_kernel_histogram_bins"],
        "top_short_kernels": options["topk_short_kernels"],
        "group_by_kernel_count": options["group_by_num_kernels"],
        "call_stack": options["include_call_stack"],
        "group_by_module": options.get("group_by_parent_module", False),
        "recompute": options.get("detect_recompute", False),
        "first_occurrence": options.get("include_first_occurrence_time", False),
    }
    with tempfile.TemporaryDirectory() as folder:
        if arch is not None:
            chosen["gpu_file"] = os.path.join(folder, "gpu.json")
            with open(chosen["gpu_file"], "w", encoding="utf-8") as file:
                json.dump({"name": "GPU", **arch}, file)
        other = options["comparison_json_path"]
        other = None if other is None else os.fspath(other)
        with reading_natively(options["profile_json_path"], other):
            report = native.scripts.perf_report(
                options["profile_json_path"], chosen, pseudo_ops=options["enable_pseudo_ops"],
                captures=options.get("capture_folder"), other=other,
                other_captures=options.get("comparison_capture_folder"))  # fmt: skip
    return with_texts(frames_of(report))


def _assembled(options, arch, inference):
    path = options["profile_json_path"]
    with_frames = options["include_call_stack"] or options.get("group_by_parent_module", False)
    how = {
        "arch": arch, "python_path": options["python_path"], "add_python_func": with_frames,
        "enable_pseudo_ops": options["enable_pseudo_ops"],
        "include_unlinked_kernels": options["include_unlinked_kernels"],
        "detect_recompute": options.get("detect_recompute", False), "enable_origami": options["enable_origami"],
        "inductor_cache_dir": options.get("inductor_cache_dir"),
    }  # fmt: skip
    tree = options.get("augmented_tree")
    if tree is None:
        analyzer = TreePerfAnalyzer.from_file(path, options.get("capture_folder"), **how)
    else:
        analyzer = TreePerfAnalyzer(tree, rebuild_tree=False, **how)
    analyzer.tree.apply_annotation(_ANNOTATED)
    extension = options["extension_file"]
    if extension is not None:
        apply_extension(analyzer, extension)
    sheets = perf_sheets(analyzer, options)
    if not inference and options["collective_analysis"] and not analyzer.gpu_only:
        from ..NcclAnalyser.nccl_analyser import NcclAnalyser

        collectives = NcclAnalyser([path], None).build_df_summary_long()
        if not collectives.empty:
            sheets["coll_analysis"] = collectives
    if options["comparison_json_path"] is not None:
        sheets = _with_other_trace(sheets, analyzer, options)
    if extension is not None:
        sheets.update(more_sheets(analyzer, os.fspath(extension)))
    return sheets


def _with_other_trace(sheets, analyzer, options):
    from ..TraceDiff.trace_diff import TraceDiff

    other = TreePerfAnalyzer.from_file(
        options["comparison_json_path"], options.get("comparison_capture_folder"),
        add_python_func=analyzer.add_python_func,
        enable_pseudo_ops=options["enable_pseudo_ops"])  # fmt: skip
    diff = TraceDiff(analyzer.tree, other.tree)
    diff.generate_tracediff_report()
    made, stats = {}, diff.diff_stats_df
    for name, sheet in sheets.items():
        made[name] = sheet
        if name == "unified_perf_summary" and not stats.empty:
            made[name] = with_other_trace(sheet, analyzer.build_df_unified_perf_table(), stats)
            made["diff_stats"] = stats
    return made


def arguments(program):
    """The flags of both commands, which are the functions' parameters."""
    flags = Arguments(program, "The performance report of a PyTorch trace")
    flags.add("profile_json_path", required=True, help="trace to report on")
    flags.output()
    flags.switch("include_unlinked_kernels", "GPU events without a launch count in the timeline")
    flags.add("micro_idle_thresh_us", type=int, help="split idle time here")
    flags.switch("enable_kernel_summary", "sheet kernel_summary", dest="kernel_summary")
    flags.switch("short_kernel_study", "sheets about short kernels")
    flags.add("short_kernel_threshold_us", type=int, default=10, help="what is short")
    flags.add("short_kernel_histogram_bins", type=int, default=100, help="bins")
    flags.add("topk_short_kernels", type=int, help="rows to keep")
    flags.switch("enable_pseudo_ops", "ops made up around kernels that none stands for")
    flags.add("topk_ops", type=int, help="accepted, without effect")
    flags.add("topk_roofline_ops", type=int, help="accepted, without effect")
    flags.add("comparison_json_path", help="second trace")
    flags.add("extension_file", help="Python file with hooks")
    flags.add("python_path", help="interpreter of an external simulator")
    flags.gpu()
    flags.switch("group_by_num_kernels", "group by it too")
    flags.switch("enable-origami", "ask an external simulator")
    flags.switch("include_overlap_info", "sheets about overlapping kernels")
    flags.switch("include_call_stack", "call stack columns")
    return flags


def main():
    flags = arguments("TraceLens_generate_perf_report_pytorch")
    flags.switch("disable_coll_analysis", "no sheet coll_analysis", off="collective_analysis")
    flags.add("inductor_cache_dir", help="accepted, without effect")
    flags.switch("detect_recompute", "tell recomputed work apart")
    flags.switch("include_first_occurrence_time", "extra column")
    generate_perf_report_pytorch(**flags.parse())


if __name__ == "__main__":
    main()
