"""The performance report of a serving trace, as one call or one command."""

from .generate_perf_report_pytorch import (
    add_truncated_kernel_details,
    apply_extension,
    arguments,
    get_dfs_short_kernels,
    report,
    trunc_kernel_details,
)

__all__ = [
    "add_truncated_kernel_details",
    "apply_extension",
    "generate_perf_report_pytorch",
    "get_dfs_short_kernels",
    "main",
    "trunc_kernel_details",
]


def generate_perf_report_pytorch(
    profile_json_path,
    output_xlsx_path=None,
    output_csvs_dir=None,
    include_unlinked_kernels=False,
    enable_pseudo_ops=False,
    micro_idle_thresh_us=None,
    collective_analysis=False,
    include_overlap_info=False,
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
    group_by_parent_module=False,
    enable_origami=False,
    include_call_stack=False,
    capture_folder=None,
    comparison_capture_folder=None,
    augmented_tree=None,
    comparison_augmented_tree=None,
):
    """A dict from sheet to DataFrame, as the report of training traces; without a backward pass.

    `augmented_tree`: a tree with captured graphs to report on instead of the file's own.
    """
    if augmented_tree is not None and not augmented_tree.is_edited():
        # The core makes the same tree again, faster than it reads this one.
        capture_folder = capture_folder or getattr(augmented_tree, "capture_folder", None)
        augmented_tree = augmented_tree if capture_folder is None else None
    comparison_capture_folder = comparison_capture_folder or getattr(comparison_augmented_tree, "capture_folder", None)
    options = dict(locals())
    return report(options, inference=True)


def main():
    flags = arguments("TraceLens_generate_perf_report_pytorch_inference")
    flags.switch("group_by_parent_module", "rows by class of nn.Module")
    flags.add("capture_folder", help="traces of graph captures")
    flags.add("comparison_capture_folder", help="the same for the second trace")
    generate_perf_report_pytorch(**flags.parse())


if __name__ == "__main__":
    main()
