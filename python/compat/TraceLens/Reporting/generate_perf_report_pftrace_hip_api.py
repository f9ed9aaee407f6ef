"""From the HIP call to the kernel, as one call or one command."""

import os

from .._errors import reading_natively
from ._arguments import Arguments
from ._rocm import base_of, options_of, written


def generate_perf_report_pftrace_hip_api(
    trace_path,
    output_xlsx_path=None,
    output_csvs_dir=None,
    traceconv=None,
    exclude_kernel_regex=None,
    allow_multi_kernel_per_api=False,
    include_nonlaunch_apis=False,
):
    """A dict from sheet to DataFrame. `traceconv` is accepted: no converter is needed."""
    from tracelens import _native

    path = os.fspath(trace_path)
    options = options_of(_native.scripts.HipApiOptions(), {
        "exclude_kernels": exclude_kernel_regex, "all_kernels": allow_multi_kernel_per_api,
        "other_calls": include_nonlaunch_apis})  # fmt: skip
    with reading_natively(path):
        report = _native.scripts.api_report(path, options)
    return written(report, output_xlsx_path, output_csvs_dir, base_of(path) + "_pftrace_hip_api_report.xlsx")


def main():
    flags = Arguments("TraceLens_generate_perf_report_pftrace_hip_api", "From the HIP call to the kernel")
    flags.add("trace_path", required=True, help=".pftrace, or JSON of the same events")
    flags.output()
    flags.add("traceconv", help="accepted, without effect")
    flags.add("exclude_kernel_regex", help="kernels to leave out; empty: none")
    flags.switch("allow_multi_kernel_per_api", "all kernels of a call instead of the first")
    flags.switch("include_nonlaunch_apis", "also calls that launch nothing")
    generate_perf_report_pftrace_hip_api(**flags.parse())


if __name__ == "__main__":
    main()
