#!/usr/bin/env python3
"""Attacks the program and prints a table: class, runs, failures.

    tests/hostile/run_hostile.py --tracelens build/check/apps/tracelens/tracelens [--long] [--only CLASS]...

Each class makes its inputs from a seed: the same seed, the same attack. A failure is named with the seed
that gives it again: --only CLASS --seed SEED --runs 1. lab.py says what every run is held to.
"""
import argparse
import pathlib
import random
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from clean_environment import clean_environment  # noqa: E402

import bombs
import clocks
import damage
import memory
import texts
import workbooks
import writing
from lab import Failure, Lab, Skip

# Class: what attacks once, runs of the quick form, runs of the long one.
CLASSES = {
    "cuts": (damage.cuts, 40, 3000),
    "bit flips": (damage.bit_flips, 40, 3000),
    "NUL pages": (damage.nul_pages, 20, 1500),
    "truncation while reading": (damage.truncation_while_reading, 6, 200),
    "gzip bombs": (bombs.gzip_bombs, 4, 60),
    "zstd bombs": (bombs.zstd_bombs, 4, 60),
    "XPlane bombs": (bombs.xplane_bombs, 5, 60),
    "workbook bombs": (bombs.workbook_bombs, 2, 20),
    "kills": (writing.kills, 6, 300),
    "full disks": (writing.full_disks, 12, 300),
    "full tmpfs": (writing.tmpfs_full, 4, 60),
    "full stdout": (writing.full_stdout, 4, 40),
    "outputs onto inputs": (writing.outputs_onto_inputs, 20, 500),
    "pipes": (writing.pipes, 12, 200),
    "injected names": (texts.injected_names, 40, 2000),
    "fuse of odd JSON": (texts.fuse_of_odd_json, 40, 3000),
    "split of odd JSON": (texts.split_of_odd_json, 40, 3000),
    "damaged workbooks": (workbooks.damaged_workbooks, 30, 2000),
    "starved memory": (memory.starved_memory, 20, 1000),
    "growth": (memory.growth, len(memory.GROWTH), len(memory.GROWTH)),
    "clocks hours apart": (clocks.clocks_hours_apart, 2, 40),
}
SHOWN = 5  # failures of a class


def attack(program, name, run, seed, runs):
    """How many failed, and why none ran when none did."""
    failures, skipped = 0, None
    for number in range(seed, seed + runs):
        with tempfile.TemporaryDirectory() as folder:
            try:
                run(Lab(program, random.Random(f"{name} {number}"), folder))
            except Failure as failure:
                failures += 1
                if failures <= SHOWN:
                    print(f"{name}, seed {number}: {failure}", flush=True)
            except Skip as reason:
                skipped = str(reason)
                break
    return failures, skipped


def main():
    clean_environment()
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tracelens", type=pathlib.Path, required=True)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--only", action="append", choices=CLASSES, metavar="CLASS")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int)
    options = parser.parse_args()
    rows, failed = [], 0
    for name, (run, quick, long) in CLASSES.items():
        if options.only and name not in options.only:
            continue
        runs = options.runs or (long if options.long else quick)
        failures, skipped = attack(options.tracelens.resolve(), name, run, options.seed, runs)
        rows.append((name, "skipped" if skipped else runs, skipped or failures))
        failed += failures
    print(f"\n{'class':26} | {'runs':>7} | failures")
    for name, runs, failures in rows:
        print(f"{name:26} | {runs:>7} | {failures}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
