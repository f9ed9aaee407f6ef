#!/usr/bin/env python3
"""Compares the JAX report with the tables of the Python TraceLens, apart from listed corrections.

    tools/check_jax_goldens.py build/check/apps/tracelens/tracelens ../shared

The golden tables are copied first: numbers lose the np.float64() around them, which is only how NumPy 2
prints, and op_conv loses the columns whose numbers are wrong there (docs/differences.md, JAX).
"""
import csv
import pathlib
import re
import subprocess
import sys
import tempfile

from clean_environment import clean_environment

CASES = {"mi300_conv": "mi300_conv_legacy.xplane.pb.gz"}
CORRECTED = {"op_conv": ("GFLOPS", "Data Moved", "FLOPS/Byte", "TB/s", "TFLOPS/s")}
WRAPPED = re.compile(r"np\.(?:float|int)64\(([^)]*)\)")


def copy_golden(source, target):
    csv.field_size_limit(1 << 30)
    with source.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    keep = [i for i, name in enumerate(header)
            if not name.startswith(CORRECTED.get(source.stem, ("\0",)))]
    with target.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        for row in [header, *rows]:
            writer.writerow([WRAPPED.sub(r"\1", row[i]) for i in keep])


def main():
    clean_environment()
    program, shared = sys.argv[1], pathlib.Path(sys.argv[2])
    failed = 0
    for case, profile in CASES.items():
        golden = shared / "golden" / "jax" / case
        if not golden.is_dir():
            continue
        with tempfile.TemporaryDirectory() as folder:
            ours, theirs = pathlib.Path(folder, "ours"), pathlib.Path(folder, "theirs")
            theirs.mkdir()
            for table in golden.glob("*.csv"):
                copy_golden(table, theirs / table.name)
            subprocess.run([program, "compat", "TraceLens_generate_perf_report_jax",
                            "--profile_path", shared / "traces" / "jax" / profile,
                            "--output_csvs_dir", ours], check=True, stdout=subprocess.DEVNULL)
            print(f"\n{case}", flush=True)
            done = subprocess.run([sys.executable, shared / "tools" / "compare_golden.py", ours,
                                   theirs, "--min", "0.999"])
            failed += done.returncode != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
