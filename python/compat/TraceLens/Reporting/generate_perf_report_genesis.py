"""The report of a captured run of Genesis, as one call or one command."""

import os

from .._chatter import chat
from .._errors import reading_natively
from ._arguments import Arguments
from ._rocm import options_of
from ._sheets import frames_of


def generate_perf_report_genesis(
    capture_dir,
    output_dir="analysis_output",
    kernel_details=False,
    short_kernel_study=True,
    short_kernel_threshold_us=10,
    steady_state_gap_ms=1000,
    steady_state_fallback_s=None,
    include_api=False,
    keep_work=False,
    traceconv=None,
):
    """A dict from section to DataFrame; the three last arguments are accepted, without effect."""
    from tracelens import _native

    options = options_of(_native.scripts.GenesisOptions(), {
        "kernel_details": kernel_details, "short_kernels": short_kernel_study,
        "short_kernel_us": float(short_kernel_threshold_us), "gap_ms": float(steady_state_gap_ms),
        "fallback_s": steady_state_fallback_s})  # fmt: skip
    with reading_natively(os.fspath(capture_dir)):
        report, summary = _native.scripts.genesis_report(os.fspath(capture_dir), options)
    folder = os.fspath(output_dir)
    os.makedirs(folder, exist_ok=True)
    workbook = os.path.join(folder, "genesis_perf_report.xlsx")
    page = os.path.join(folder, "genesis_summary.md")
    report.write(workbook, "report")
    with open(page, "w", encoding="utf-8") as file:
        file.write(summary)
    chat(f"Excel: {workbook}\nSummary: {page}")
    return frames_of(report)


def main():
    flags = Arguments("TraceLens_generate_perf_report_genesis", "The report of a run of Genesis")
    flags.add("capture-dir", required=True, help="folder of the captured run", alias="combined-run-dir")
    flags.add("output-dir", default="analysis_output", help="folder for the report")
    flags.switch("kernel-details", "sheet with every dispatch")
    flags.switch("no-short-kernel-study", "no sheets about short kernels", off="short_kernel_study")
    flags.add("short-kernel-threshold-us", type=float, default=10, help="what is short")
    flags.add("steady-state-gap-ms", type=float, default=1000, help="a pause this long ends the build")
    flags.add("steady-state-fallback-s", type=float, help="how much of the end to take without one")
    flags.switch("include-api", "accepted, without effect")
    flags.switch("keep-work", "accepted, without effect")
    flags.add("traceconv", help="accepted, without effect")
    generate_perf_report_genesis(**flags.parse())


if __name__ == "__main__":
    main()
