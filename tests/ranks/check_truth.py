#!/usr/bin/env python3
"""What make_ranks.py put into the traces of a job must come out of `tracelens collectives`.

    tests/ranks/check_truth.py --tracelens build/check/apps/tracelens/tracelens
"""
import argparse
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from clean_environment import clean_environment  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
MAKE_RANKS = HERE.parent / "data" / "make_ranks.py"


class Run:
    """The tables of one generated job, and what went into it."""

    def __init__(self, tracelens, folder, ranks, generate=(), flags=()):
        self.ranks = ranks
        traces, out = folder / "traces", folder / "out"
        subprocess.run([sys.executable, MAKE_RANKS, "--out", traces, "--ranks", str(ranks), *generate],
                       check=True)
        truth = (traces / "truth.json").rename(folder / "truth.json").read_text(encoding="utf-8")
        self.truth = json.loads(truth)["collectives"]
        done = subprocess.run([tracelens, "collectives", traces, "-o", f"{out}/", "--quiet", *flags],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError(f"exit status {done.returncode}: {done.stderr}")
        self.tables = {path.stem: list(csv.DictReader(path.open(encoding="utf-8", newline="")))
                       for path in out.glob("*.csv")}

    def collectives(self):
        return [entry for entry in self.truth if entry["name"] != "transfer"]

    def expect_collectives(self, tolerance_us=1e-6, missing_rank=None):
        """Latency, skew and late rank of every collective, in the order of each group."""
        rows = self.tables["nccl_implicit_sync"]
        assert len(rows) == len(self.collectives()), f"{len(rows)} rows"
        for entry in self.collectives():
            group = "0" if entry["group"] == "0" else f"tp@{entry['ranks'][0]}"
            wanted = f"{group}_{entry['seq'] - 1}"
            row = next((r for r in rows if r["collective_id"] == wanted), None)
            assert row, f"no collective {wanted}"
            there = [r for r in entry["ranks"] if row[f"rank_{r}_ts"]]
            if there != entry["ranks"]:
                assert missing_rank in entry["ranks"], f"{wanted} has only {there}"
                continue
            for column, value in (("comm_latency", entry["latency_us"]),
                                  ("skew in start time", entry["skew_us"])):
                assert abs(float(row[column]) - value) <= tolerance_us, \
                    f"{wanted}: {column} {row[column]} instead of {value}"

    def column(self, table, name):
        return [row[name] for row in self.tables[table]]


def everything_is_found(make):
    run = make(4)
    run.expect_collectives()
    waits = {int(row["rank"]): float(row["total_wait_time_us"]) for row in run.tables["straggler_summary"]}
    assert min(waits, key=waits.get) == 2, f"straggler {waits}"
    for entry in (e for e in run.truth if e["name"] == "transfer"):
        times = [float(row["transfer time"]) for row in run.tables["p2p"]
                 if int(row["from rank"]) == entry["from"]]
        assert any(abs(time - entry["latency_us"]) < 1e-3 for time in times), times
    assert "clock_offsets" not in run.tables and "warnings" not in run.tables
    assert run.column("rank_timeline", "step").count("ProfilerStep#1") == 4


def a_lost_event_shifts_nothing(make):
    for flags in ([], ["--no-seq"]):
        run = make(4, ["--steps", "4", "--drop", "1:0:3", *flags])
        run.expect_collectives(missing_rank=1)
        incomplete = [row for row in run.tables["process_groups"] if row["incomplete"] != "0"]
        assert [row["process group"] for row in incomplete] == ["0"], incomplete


def transfers_among_collectives_shift_nothing(make):
    make(8, ["--shared-p2p"]).expect_collectives()


def clocks_are_found_and_corrected(make):
    offsets = [0, 250, -700, 999.5]
    job = ["--nodes", "4", "--steps", "12", "--offset-us=" + ",".join(map(str, offsets))]
    for late in ("2", "13", "-1"):
        run = make(16, [*job, "--late-rank", late])
        found = [float(value) for value in run.column("clock_offsets", "offset (us)")]
        assert all(abs(a - b) < 1 for a, b in zip(found, offsets)), f"late rank {late}: {found}"
    run = make(16, job, ["--correct-clocks"])
    run.expect_collectives(tolerance_us=2)


def clocks_hours_apart_change_no_answer(make):
    hours = 9 * 3600 * 1_000_000

    def answers(run):
        waits = {int(row["rank"]): float(row["total_wait_time_us"]) for row in run.tables["straggler_summary"]}
        lasts = {int(row["rank"]): int(row["times_arrived_last"]) for row in run.tables["straggler_summary"]}
        return min(waits, key=waits.get), max(lasts, key=lasts.get), run.column("comm_verdict", "late ranks")

    def expect_same(run, plain):
        assert answers(run) == answers(plain), f"{answers(run)} instead of {answers(plain)}"
        ends = [float(row["ts"]) + float(row["dur"]) for row in plain.tables["nccl_long"]]
        length = max(ends) - min(float(row["ts"]) for row in plain.tables["nccl_long"])
        for row in run.tables["nccl_implicit_sync"]:
            longest = max(float(row.get(f"rank_{r}_wait_time") or 0) for r in range(run.ranks))
            assert longest <= length, f"{row['collective_id']}: waits {longest} of {length} us"
        said = run.column("warnings", "warning")
        assert any("all times are corrected" in text for text in said), said
        assert not any("longer than" in text for text in said), said

    ahead, behind = [f"--rank-offset-us=1:{hours}"], [f"--rank-offset-us=2:{-hours}"]
    for job in ([], ["--no-seq"], ["--drop", "1:0:3"], ["--no-seq", "--drop", "1:0:7"],
                ["--nodes", "2"], ["--drift-ppm", "3:200"]):
        job = ["--steps", "4", *job]
        plain = make(4, [flag for flag in job if flag not in ("--drift-ppm", "3:200")])
        for offset in (ahead, behind, ahead + behind):
            run = make(4, [*job, *offset])
            expect_same(run, plain)
    found = [float(value) for value in run.column("clock_offsets", "offset (us)")]
    assert all(abs(a - b) < 5 for a, b in zip(found, [0, hours, -hours, 0])), found
    missing = ["--ranks", "0,1,2"]
    expect_same(make(4, ahead, missing), make(4, [], missing))
    kept = make(4, ahead, ["--keep-clocks"])
    assert any("waits 32400.0" in text for text in kept.column("warnings", "warning")), kept.tables["warnings"]


def the_verdict_names_who_is_late_and_why(make):
    run = make(4)
    row = next(r for r in run.tables["comm_verdict"] if r["process group"] == "0")
    assert row["verdict"].startswith("imbalance"), row["verdict"]
    assert row["late ranks"] == "2 (100%)" and row["late rank was in"] == "aten::mm", row
    hidden = make(4, ["--overlap"])
    assert set(hidden.column("comm_verdict", "verdict")) == {"fine"}
    even = make(4, ["--late-us", "0"], ["--link-gbps", "170"])
    assert set(even.column("comm_verdict", "verdict")) == {"overlap"}, even.tables["comm_verdict"]
    slow = make(4, ["--late-us", "0"], ["--link-gbps", "900"])
    assert set(slow.column("comm_verdict", "verdict")) == {"network"}


CASES = [everything_is_found, a_lost_event_shifts_nothing, transfers_among_collectives_shift_nothing,
         clocks_are_found_and_corrected, clocks_hours_apart_change_no_answer, the_verdict_names_who_is_late_and_why]


def main():
    clean_environment()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tracelens", required=True)
    tracelens = parser.parse_args().tracelens
    failed = 0
    for case in CASES:
        def make(*arguments):
            folder = tempfile.TemporaryDirectory()
            folders.append(folder)
            return Run(tracelens, pathlib.Path(folder.name), *arguments)
        folders = []
        try:
            case(make)
            print(f"ok    {case.__name__}")
        except AssertionError as problem:
            failed += 1
            print(f"FAIL  {case.__name__}: {problem}")
        for folder in folders:
            folder.cleanup()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
