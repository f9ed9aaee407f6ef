"""The report of a file of rocprofv3, as one call or one command."""

import os

from .._errors import reading_natively
from ._arguments import Arguments
from ._rocm import options_of, written


def generate_perf_report_rocprof(
    profile_json_path,
    output_xlsx_path=None,
    output_csvs_dir=None,
    kernel_summary=True,
    kernel_details=False,
    short_kernel_study=False,
    short_kernel_threshold_us=10,
    short_kernel_histogram_bins=100,
    topk_kernels=None,
):
    """A dict from sheet to DataFrame."""
    from tracelens import _native

    path = os.fspath(profile_json_path)
    options = options_of(_native.scripts.RocprofTableOptions(), {
        "kernel_summary": kernel_summary, "kernel_details": kernel_details,
        "short_kernels": short_kernel_study, "short_kernel_us": float(short_kernel_threshold_us),
        "histogram_bins": short_kernel_histogram_bins, "top_kernels": topk_kernels})  # fmt: skip
    with reading_natively(path):
        report = _native.scripts.rocprof_report(path, options)
    if path.endswith("_results.json"):
        default = path.replace("_results.json", "_perf_report.xlsx")
    else:
        default = path.rpartition(".json")[0] + "_perf_report.xlsx"
    return written(report, output_xlsx_path, output_csvs_dir, default)


def main():
    flags = Arguments("TraceLens_generate_perf_report_rocprof", "The report of a rocprofv3 file")
    flags.add("profile_json_path", required=True, help="results of rocprofv3")
    flags.output()
    flags.switch("disable_kernel_summary", "no sheets about kernels by name", off="kernel_summary")
    flags.switch("kernel_details", "sheet with every dispatch")
    flags.switch("short_kernel_study", "sheets about short kernels")
    flags.add("short_kernel_threshold_us", type=float, default=10, help="what is short")
    flags.add("short_kernel_histogram_bins", type=int, default=100, help="bins")
    flags.add("topk_kernels", type=int, help="rows of kernel_details")
    generate_perf_report_rocprof(**flags.parse())


if __name__ == "__main__":
    main()
