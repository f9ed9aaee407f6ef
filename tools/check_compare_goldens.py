#!/usr/bin/env python3
"""Comparisons of reports and of traces against those of the Python TraceLens.

    tools/check_compare_goldens.py build/check/apps/tracelens/tracelens ../shared

Tables are compared cell by cell; the merged tree and the op maps must be the same text.
"""
import pathlib
import subprocess
import sys
import tempfile

from clean_environment import clean_environment

SCRIPT = "TraceLens_compare_perf_reports_pytorch"
REPORTS = {  # folder of golden/compare: reports by tag, sheets, folder of the result
    "compare_test": ({"256thread": "256thread/perf_56ch_rank7_perf_report_csvs",
                      "512thread": "512thread/perf_56ch_rank7_perf_report_csvs"},
                     ["gpu_timeline", "kernel_summary"],
                     "reference/compare_56ch_rank7_across_threads_csvs"),
    "compare_test_ops": ({"256thread": "256thread/perf_28ch_rank0_perf_report_csvs",
                          "512thread": "512thread/perf_28ch_rank0_perf_report_csvs"},
                         ["gpu_timeline", "ops_summary"],
                         "reference/compare_28ch_rank0_across_threads_csvs"),
    "compare_test_e2e": ({"h100": "reference/h100_perf_report_csvs",
                          "mi300": "reference/mi300_perf_report_csvs"},
                         ["all"], "reference/compare_h100_mi300_qwen_csvs"),
}
SAME_TEXT = ["merged_tree_output.txt", "cpu_op_map.json", "cpu_op_map_trace1.json",
             "cpu_op_map_trace2.json"]


class Checker:
    def __init__(self, program, shared, work):
        self.program, self.shared, self.work = program, shared, work
        self.cases = self.failed = 0

    def run(self, *arguments):
        done = subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True)
        if done.returncode != 0:
            print(f"FAIL  {' '.join(map(str, arguments))}\n      {done.stderr.strip()}")
        return done.returncode == 0

    def tell(self, name, holds, detail=""):
        self.cases += 1
        self.failed += not holds
        print(f"{'ok' if holds else 'FAIL'}    {name}{': ' if detail else ''}{detail}")

    def compare(self, name, ours, golden):
        done = subprocess.run([sys.executable, self.shared / "tools/compare_golden.py", ours, golden,
                               "--min", "0.999", "--show", "2"], capture_output=True, text=True)
        self.tell(name, done.returncode == 0, done.stdout.strip().splitlines()[-1])
        if done.returncode != 0:
            print(done.stdout)


def check_reports(checker):
    for case, (reports, sheets, result) in REPORTS.items():
        folder = checker.shared / "golden/compare" / case
        if not folder.is_dir():
            continue
        out = checker.work / case
        checker.run("compat", SCRIPT, *(folder / path for path in reports.values()),
                    "--names", *reports, "--sheets", *sheets, "--output_csvs_dir", out,
                    "-o", checker.work / f"{case}.xlsx")
        checker.compare(f"compare/{case}", out, folder / result)


def check_traces(checker):
    traces = checker.shared / "traces/pytorch"
    for golden in sorted((checker.shared / "golden/diff").iterdir()):
        before, after = golden.name.split("_vs_")
        paths = [traces / f"{name}.json.gz" for name in (before, after)]
        if not all(path.exists() for path in paths):
            continue
        out = checker.work / golden.name
        checker.run("diff", *paths, "-o", f"{out}/", "--quiet")
        checker.compare(f"diff/{golden.name}", out, golden)
        for name in SAME_TEXT:
            same = (out / name).exists() and (out / name).read_bytes() == (golden / name).read_bytes()
            checker.tell(f"diff/{golden.name}/{name}", same)


def main():
    clean_environment()
    if len(sys.argv) != 3:
        print(__doc__.split("\n\n")[1].strip(), file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as work:
        checker = Checker(sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(work))
        check_reports(checker)
        check_traces(checker)
        print(f"\n{checker.cases} checks, {checker.failed} failed")
        return 1 if checker.failed or checker.cases == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
