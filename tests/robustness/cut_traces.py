#!/usr/bin/env python3
"""Cuts traces at random bytes: a report of what is left, or one sentence and exit status 2.

    tests/robustness/cut_traces.py --tracelens build/check/apps/tracelens/tracelens [--cuts 50] TRACE...

Half of the cuts go through the unpacked text, half through the packed file. Every run must either
exit with 0 and warn about the cut, or exit with 2 after exactly one line on stderr and leave no output.
"""
import argparse
import gzip
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from clean_environment import clean_environment  # noqa: E402


def problem_with(tracelens, data, folder):
    trace, out = folder / "cut.json", folder / "out.json"
    trace.write_bytes(data)
    out.unlink(missing_ok=True)
    done = subprocess.run([tracelens, "report", str(trace), "-o", str(out)], capture_output=True,
                          text=True, timeout=300)
    if done.returncode == 0:
        if "warning:" not in done.stderr:
            return "no warning about the cut"
        return None if out.exists() else "no report"
    if done.returncode != 2:
        return f"exit status {done.returncode}: {done.stderr.strip()[-300:]}"
    if done.stderr.count("\n") != 1 or not done.stderr.startswith("tracelens: error: "):
        return f"not one sentence: {done.stderr!r}"
    return "a half-written report" if out.exists() else None


def main():
    clean_environment()
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tracelens", required=True)
    parser.add_argument("--cuts", type=int, default=50)
    parser.add_argument("traces", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for trace in arguments.traces:
            packed = trace.read_bytes()
            forms = [gzip.decompress(packed), packed] if trace.suffix == ".gz" else [packed]
            chooser = random.Random(trace.name)  # the same cuts every time
            for cut in range(arguments.cuts):
                form = forms[cut % len(forms)]
                end = chooser.randrange(len(form) - 1)
                problem = problem_with(arguments.tracelens, form[:end], pathlib.Path(folder))
                if problem:
                    failed += 1
                    print(f"{trace.name} cut at byte {end} of {len(form)}: {problem}")
    print(f"{len(arguments.traces) * arguments.cuts - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
