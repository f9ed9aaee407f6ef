"""How many copies of each size and direction, as one call or one command."""

import os

from .._errors import reading_natively
from ._arguments import Arguments
from ._rocm import base_of, written


def generate_perf_report_pftrace_memory_copy(
    trace_path, output_xlsx_path=None, output_csvs_dir=None, traceconv=None
):
    """A dict from sheet to DataFrame. `traceconv` is accepted: no converter is needed."""
    from tracelens import _native

    path = os.fspath(trace_path)
    with reading_natively(path):
        report = _native.scripts.copy_report(path)
    return written(report, output_xlsx_path, output_csvs_dir, base_of(path) + "_pftrace_memory_copy_report.xlsx")


def main():
    flags = Arguments("TraceLens_generate_perf_report_pftrace_memory_copy", "Copies by size and direction")
    flags.add("trace_path", required=True, help=".pftrace, or JSON of the same events")
    flags.output()
    flags.add("traceconv", help="accepted, without effect")
    generate_perf_report_pftrace_memory_copy(**flags.parse())


if __name__ == "__main__":
    main()
