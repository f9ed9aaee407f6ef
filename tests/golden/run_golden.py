#!/usr/bin/env python3
"""Runs golden cases: what is made of traces of tests/data must hold exactly the expected tables.

    tests/golden/run_golden.py --tracelens build/check/apps/tracelens/tracelens [CASE...] [--update]

A case is a folder: `args` holds the trace's file name and the flags of `tracelens report`, or another
verb (compare, diff) before the names of its traces, and the CSVs beside it are the tables expected. --update rewrites those CSVs from what the program says now
(read the difference before committing it); a new case names its tables by creating them empty.
"""
import argparse
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / "data"
VERBS = ("report", "compare", "diff")
sys.path.insert(0, str(HERE.parent.parent / "tools"))
import compare_tables  # noqa: E402
from clean_environment import clean_environment  # noqa: E402


def write_tables(tracelens, case, out):
    words = shlex.split((case / "args").read_text(encoding="utf-8"))
    verb = words.pop(0) if words[0] in VERBS else "report"
    words = [str(DATA / word) if (DATA / word).is_file() else word for word in words]
    command = [tracelens, verb, *words, "-o", f"{out}/", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return [f"exit status {done.returncode}: {done.stderr.strip()}"]
    return []


def run_case(tracelens, case, update):
    with tempfile.TemporaryDirectory() as out:
        problems = write_tables(tracelens, case, out)
        if problems:
            return problems
        if not update:
            return list(compare_tables.folder_differences(case, out))
        for table in sorted(case.glob("*.csv")):
            shutil.copyfile(pathlib.Path(out) / table.name, table)
        return []


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", help="folders of tests/golden; default: all")
    parser.add_argument("--tracelens", required=True, help="the program to test")
    parser.add_argument("--update", action="store_true", help="rewrite the expected tables")
    options = parser.parse_args()
    clean_environment()
    names = options.cases or sorted(path.parent.name for path in HERE.glob("*/args"))
    failed = 0
    for name in names:
        problems = run_case(options.tracelens, HERE / name, options.update)
        failed += bool(problems)
        print(f"{'FAIL' if problems else 'ok'}    {name}")
        for problem in problems:
            print(f"      {problem}")
    return 1 if failed or not names else 0


if __name__ == "__main__":
    sys.exit(main())
