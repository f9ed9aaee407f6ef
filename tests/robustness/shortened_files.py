#!/usr/bin/env python3
"""Shortens files while they are read: a warning about the cut or one sentence, never a signal.

    tests/robustness/shortened_files.py --tracelens build/check/apps/tracelens/tracelens [--runs 8]

The traces are made here: JSON, and an XPlane profile, which is mapped into memory.
"""
import argparse
import pathlib
import random
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from clean_environment import clean_environment  # noqa: E402


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def profile(events):
    line = field(1, 1) + b"".join(
        field(4, field(1, 1) + field(2, i * 2000) + field(3, 1000)) for i in range(events))
    kind = field(1, 1) + field(2, field(1, 1) + field(2, b"kernel"))
    return field(1, field(2, b"/device:GPU:0") + field(3, line) + field(4, kind))


def trace(events):
    rows = (b'{"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 1, "ts": %d, "dur": 1}'
            % (2 * i) for i in range(events))
    return b'{"traceEvents": [' + b",\n".join(rows) + b"]}"


def problem_with(tracelens, file, data, wait, keep):
    file.write_bytes(data)
    run = subprocess.Popen([tracelens, "check", str(file)], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
    time.sleep(wait)
    with file.open("r+b") as out:
        out.truncate(keep)
    _, errors = run.communicate(timeout=300)
    if run.returncode not in (0, 1, 2):
        return f"exit status {run.returncode}: {errors.strip()[-300:]}"
    return None


def main():
    clean_environment()
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tracelens", required=True)
    parser.add_argument("--runs", type=int, default=8)
    arguments = parser.parse_args()
    chance = random.Random(1)
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        for file, data in (("t.json", trace(400_000)), ("t.xplane.pb", profile(2_000_000))):
            for _ in range(arguments.runs):
                wait, keep = chance.uniform(0.005, 0.2), chance.randrange(len(data))
                problem = problem_with(arguments.tracelens, pathlib.Path(name) / file, data, wait,
                                       chance.choice((0, keep)))
                if problem:
                    print(f"{file} cut to {keep} after {wait:.3f} s: {problem}")
                    failures += 1
    print(f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
