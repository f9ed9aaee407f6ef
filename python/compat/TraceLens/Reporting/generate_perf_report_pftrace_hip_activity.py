"""What the GPU of a ROCm timeline did, as one call or one command."""

import os

from .._errors import reading_natively
from ._arguments import Arguments
from ._rocm import base_of, options_of, written


def generate_perf_report_pftrace_hip_activity(
    trace_path,
    output_xlsx_path=None,
    output_csvs_dir=None,
    output_md_path=None,
    write_md=False,
    traceconv=None,
    merge_kernels=False,
    min_tid=None,
    max_tid=None,
    min_event_ns=5000,
    kernel_summary=True,
    hip_summary=True,
    kernel_summary_include_rccl=False,
    kernel_summary_baseline="total",
    kernel_summary_group="config",
    hip_summary_group="name",
    top_xla=30,
    kernel_summary_top=200,
    hip_summary_top=200,
):
    """A dict from sheet to DataFrame. `traceconv` is accepted: no converter is needed."""
    from tracelens import _native

    path = os.fspath(trace_path)
    options = options_of(_native.scripts.HipActivityOptions(), {
        "merge_kernels": merge_kernels, "min_tid": min_tid, "max_tid": max_tid,
        "min_event_ns": min_event_ns, "top_xla": top_xla, "kernel_summary": kernel_summary,
        "hip_summary": hip_summary, "include_rccl": kernel_summary_include_rccl,
        "percent_of_compute": kernel_summary_baseline == "compute",
        "group_by_config": kernel_summary_group == "config",
        "group_by_stream": "stream" in hip_summary_group,
        "group_by_operation": hip_summary_group.endswith("op"),
        "kernel_rows": kernel_summary_top, "hip_rows": hip_summary_top})  # fmt: skip
    with reading_natively(path):
        report, page = _native.scripts.activity_report(path, options)
    if output_md_path or write_md:
        with open(output_md_path or base_of(path) + "_report.md", "w", encoding="utf-8") as file:
            file.write(page)
    return written(report, output_xlsx_path, output_csvs_dir, base_of(path) + "_pftrace_activity_report.xlsx")


def main():
    flags = Arguments("TraceLens_generate_perf_report_pftrace_hip_activity", "What the GPU did")
    flags.add("trace_path", required=True, help=".pftrace, or JSON of the same events")
    flags.output()
    flags.add("traceconv", help="accepted, without effect")
    flags.add("output_md_path", help="also a Markdown page of this name")
    flags.switch("write_md", "also a Markdown page beside the trace")
    flags.switch("merge_kernels", "names without their digits")
    flags.add("min_tid", type=int, help="first thread to look at")
    flags.add("max_tid", type=int, help="last thread to look at")
    flags.add("min_event_ns", type=int, default=5000, help="leave out what is shorter")
    flags.switch("no_kernel_summary", "no sheet kernel_summary", off="kernel_summary")
    flags.switch("no_hip_summary", "no sheet hip_summary", off="hip_summary")
    flags.switch("kernel_summary_include_rccl", "RCCL kernels too")
    flags.add("kernel_summary_baseline", choices=("total", "compute"), default="total", help="base of percentages")
    flags.add("kernel_summary_group", choices=("config", "name"), default="config", help="what makes a row")
    flags.add("hip_summary_group", choices=("name", "name+stream", "name+op", "name+stream+op"),
              default="name", help="what makes a row")  # fmt: skip
    flags.add("top_xla", type=int, default=30, help="rows of xla_top")
    flags.add("kernel_summary_top", type=int, default=200, help="rows in the page")
    flags.add("hip_summary_top", type=int, default=200, help="rows in the page")
    generate_perf_report_pftrace_hip_activity(**flags.parse())


if __name__ == "__main__":
    main()
