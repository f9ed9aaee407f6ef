"""Finished reports side by side, as one call or one command."""

import os

from .._errors import reading_natively
from ._arguments import Arguments
from ._sheets import frames_of, write_csvs


def generate_compare_perf_reports_pytorch(
    reports, output="comparison.xlsx", names=None, sheets=("all",), output_csvs_dir=None
):
    """A dict from sheet to DataFrame. `reports`: workbooks or folders of CSV files; the first is the
    baseline."""
    from tracelens import _native

    paths = [os.fspath(path) for path in reports]
    with reading_natively(*paths):
        made = _native.scripts.compare_reports(paths, list(names or ()), list(sheets))
    frames = frames_of(made)
    if output_csvs_dir:
        write_csvs(frames, os.fspath(output_csvs_dir))
    if output:
        made.write(os.fspath(output), "compare")
    return frames


def main():
    flags = Arguments("TraceLens_compare_perf_reports_pytorch", "Reports side by side")
    flags.positional("reports", nargs="+", help="workbooks or folders; the first is the baseline")
    flags.add("output", default="comparison.xlsx", help="workbook to write", short="-o")
    flags.add("output_csvs_dir", help="folder for one CSV file per sheet")
    flags.add("names", nargs="*", help="one tag per report")
    flags.add("sheets", nargs="+", default=["all"], help="groups of sheets to compare")
    generate_compare_perf_reports_pytorch(**flags.parse())


if __name__ == "__main__":
    main()
