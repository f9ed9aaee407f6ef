"""Fleets: many traces on a pool of processes and on a cluster of Dask, with workers that die."""

import gzip
import json
import os
import pathlib
import pickle
import shutil
import signal
import subprocess
import sys

import pytest
import tracelens as tl
from tracelens import fleet

import fleet_work

DATA = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data"
PAIR = [DATA / f"h200_pair_{name}.json.gz" for name in ("base", "again", "math")]


@pytest.fixture
def files(tmp_path):
    for number in range(8):
        (tmp_path / f"{number}.json").write_text("{}")
    return tmp_path


def names(results):
    return sorted(value for _, value in results)


ALL = [f"{number}.json" for number in range(8)]

# --- which files ---


def test_folders_patterns_and_files_are_found_once_and_in_order(tmp_path):
    for name in ("b/rank1.json.gz", "b/rank0.json.gz", "a.json", "notes.txt", ".hidden.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    root = str(tmp_path)
    assert fleet.find_traces(root) == [f"{root}/a.json", f"{root}/b/rank0.json.gz", f"{root}/b/rank1.json.gz"]
    assert fleet.find_traces([f"{root}/**/rank*", tmp_path / "notes.txt", f"{root}/b/rank0.json.gz"]) == [
        f"{root}/b/rank0.json.gz", f"{root}/b/rank1.json.gz", f"{root}/notes.txt"]


def test_no_traces_at_all_is_an_error(tmp_path):
    with pytest.raises(tl.FileError, match="no traces there"):
        fleet.report(tmp_path)


# --- the pool ---


def test_every_trace_comes_once_whatever_the_number_of_workers(files):
    for workers in (1, 3):
        assert names(fleet.map(fleet_work.name_of, files, backend=fleet.Pool(workers))) == ALL


def test_a_worker_that_dies_loses_nothing(files):
    assert names(fleet.map(fleet_work.die_once, files, backend=fleet.Pool(2))) == ALL


def test_workers_killed_from_outside_lose_nothing(files):
    pool = fleet.Pool(2)
    results = fleet.map(fleet_work.slowly, files, backend=pool)
    first = next(results)
    for pid in pool.pids():
        os.kill(pid, signal.SIGKILL)
    assert names([first, *results]) == ALL
    assert pool.pids() == []  # none is left behind


def test_a_trace_that_kills_its_process_each_time_is_given_up(files):
    results = dict(fleet.map(fleet_work.die_always, files, backend=fleet.Pool(2), retries=1))
    failure = results.pop(str(files / "3.json"))
    assert failure.attempts == 2 and "the process that read it died" in failure.error
    assert names(results.items()) == [name for name in ALL if name != "3.json"]


def test_what_raises_is_a_failure_and_is_not_tried_again(files):
    results = dict(fleet.map(fleet_work.raise_some, files, backend=fleet.Pool(2)))
    raised, unsendable = results[str(files / "3.json")], results[str(files / "4.json")]
    assert raised == fleet.Failure(str(files / "3.json"), "three is not wanted", 1)
    assert unsendable.attempts == 1 and "pickle" in unsendable.error.lower()


def test_a_file_that_cannot_be_read_is_tried_again(files):
    assert names(fleet.map(fleet_work.away_once, files, backend=fleet.Pool(2))) == ALL


def test_a_file_that_is_not_there_is_not_tried_again(tmp_path):
    (failure,) = fleet.report(tmp_path / "none.json", backend=fleet.Pool(1)).failed
    assert failure.attempts == 1 and "No such file" in failure.error


def test_leaving_a_stream_ends_its_processes(files):
    pool = fleet.Pool(2)
    results = fleet.map(fleet_work.slowly, files, backend=pool)
    next(results)
    assert pool.pids()
    results.close()
    assert not pool.pids()


def test_progress_counts_traces_and_failures(files):
    told = []
    list(fleet.map(fleet_work.raise_some, files, backend=fleet.Pool(2),
                   progress=lambda *counts: told.append(counts)))
    assert told[0] == (0, 8, 0) and told[-1] == (8, 8, 2) and len(told) == 9


def test_a_script_that_forgot_its_main_guard_is_told_so(files):
    script = files / "script.py"
    script.write_text(f"from tracelens import fleet\nimport os\n"
                      f"print(list(fleet.map(os.path.basename, {str(files)!r}, backend=fleet.Pool(1))))\n")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=300)
    assert done.returncode != 0
    assert "if __name__ ==" in done.stderr.splitlines()[-1]


class Recorder:
    """A back-end that does the work here and notes how much was begun at a time."""

    def __init__(self):
        self.begun, self.most = [], 0

    def slots(self):
        return 4

    def submit(self, task):
        self.begun.append(task)
        self.most = max(self.most, len(self.begun))

    def next(self):
        from tracelens.fleet._run import work

        return work(self.begun.pop(0))

    def close(self):
        pass


def test_few_traces_are_begun_before_others_are_taken(files):
    recorder = Recorder()
    assert names(fleet.map(fleet_work.name_of, [files] * 3, backend=recorder)) == ALL
    assert recorder.most == 8
    for number in range(20):
        (files / f"more{number}.json").write_text("{}")
    list(fleet.map(fleet_work.name_of, files, backend=recorder))
    assert recorder.most == 8  # twice the places, of 28


def test_memory_says_how_many_are_read_at_the_same_time(files):
    recorder = Recorder()
    list(fleet.map(fleet_work.name_of, files, backend=recorder, memory="0.25G"))
    assert recorder.most == 2  # a hundred megabytes each
    list(fleet.map(fleet_work.name_of, files, backend=(one := Recorder()), memory=1))
    assert one.most == 1
    with pytest.raises(ValueError, match="expected a size"):
        list(fleet.map(fleet_work.name_of, files, backend=recorder, memory="much"))


# --- reports ---


@pytest.fixture(scope="module")
def pair():
    return fleet.report(PAIR, backend=fleet.Pool(2))


def test_a_table_is_that_of_the_reports_with_the_trace_in_front(pair):
    rows = []
    for path in PAIR:
        rows += [(str(path), *row) for row in tl.report(path)["gpu_timeline"]]
    table = pair["gpu_timeline"]
    assert [column.name for column in table.columns] == ["trace", "type", "time ms", "percent"]
    assert [tuple(row) for row in table] == rows


def test_columns_that_only_some_traces_have_are_missing_in_the_others():
    wide = tl.table_of_rows("t", [tl.Column("n", "integer"), tl.Column("m", "text")], [(1, "x")])
    tall = tl.table_of_rows("t", [tl.Column("n", "real"), tl.Column("k", "bool")], [(2.5, True)])
    odd = tl.table_of_rows("t", [tl.Column("m", "integer")], [(7,)])
    from tracelens.fleet._tables import stack

    table = stack("trace", "", [("a", wide), ("b", tall), ("c", odd)])
    assert [(column.name, column.kind) for column in table.columns] == [
        ("trace", "text"), ("n", "real"), ("m", "nested"), ("k", "bool")]
    assert [tuple(row) for row in table] == [("a", 1.0, "x", None), ("b", 2.5, None, True), ("c", None, 7, None)]


def test_only_the_tables_asked_for_come_back_and_rankings_still_work():
    few = fleet.report(PAIR, tables=["kernel_summary"], backend=fleet.Pool(2))
    assert list(few) == ["kernel_summary"]
    assert len(few.slow_runs()) == 3 and len(few.differing_ops()) > 0


def test_streaming_gives_the_same_tables(pair):
    runs = {run.trace: run.tables for run in fleet.stream(PAIR, backend=fleet.Pool(2))}
    assert list(runs[str(PAIR[0])]["ops_summary"]) == list(tl.report(PAIR[0])["ops_summary"])


def test_pandas_and_pickle(pair):
    frame = pair["ops_summary"].to_pandas()
    assert set(frame["trace"]) == {str(path) for path in PAIR}
    again = pickle.loads(pickle.dumps(pair))
    assert again["ops_summary"] == pair["ops_summary"] and again.traces == pair.traces


def test_what_is_no_trace_is_named_and_the_rest_reported(tmp_path):
    (tmp_path / "cut.json.gz").write_bytes(b"\x1f\x8b nonsense")
    (tmp_path / "text.json").write_text("hello")
    shutil.copy(PAIR[0], tmp_path / "good.json.gz")
    got = fleet.report(tmp_path, backend=fleet.Pool(2))
    assert got.traces == [str(tmp_path / "good.json.gz")]
    assert [os.path.basename(failure.trace) for failure in got.failed] == ["cut.json.gz", "text.json"]
    assert all(failure.trace in failure.error for failure in got.failed)


# --- rankings, against what was put into the traces ---


def training_run(path, *, steps=3, gemm_us=1000, comm_us=100, idle_us=50, extra=(), rank=None):
    """A run of known times: per step a GEMM, other ops, communication and a pause."""
    events, clock, ident = [], 1000.0, 0

    def event(category, name, start, length, **arguments):
        events.append({"ph": "X", "cat": category, "name": name, "ts": start, "dur": length, "pid": 0,
                       "tid": 7 if category == "kernel" else 1, "args": arguments})

    def op(name, kernel, length):
        nonlocal clock, ident
        ident += 1
        event("cpu_op", name, clock - 8, 4, **{"External id": ident})
        event("cuda_runtime", "cudaLaunchKernel", clock - 7, 2, **{"External id": ident, "correlation": ident})
        event("kernel", kernel, clock, length, **{"External id": ident, "correlation": ident, "stream": 7})
        for phase, thread, time in (("s", 1, clock - 7), ("f", 7, clock)):  # from the launch to the kernel
            events.append({"ph": phase, "cat": "ac2g", "name": "ac2g", "id": ident, "pid": 0, "tid": thread,
                           "ts": time, "bp": "e"})
        clock += length

    for step in range(steps):
        begin = clock
        op("aten::mm", "gemm", gemm_us)
        for name, length in extra:
            op(name, name.replace("::", "_"), length)
        op("c10d::allreduce_", "ncclDevKernel_AllReduce_Sum_bf16", comm_us)
        clock += idle_us
        event("user_annotation", f"ProfilerStep#{step}", begin - 10, clock - begin - 1)
    trace = {"traceEvents": events}
    if rank is not None:
        trace["distributedInfo"] = {"rank": rank, "world_size": 4}
    pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt") as file:
        json.dump(trace, file)


def test_the_slow_run_is_first_and_what_grew_is_named(tmp_path):
    for number in range(5):
        training_run(tmp_path / f"run{number}.json.gz", gemm_us=1000 + number)
    training_run(tmp_path / "slow.json.gz", idle_us=600)
    training_run(tmp_path / "long.json.gz", steps=9)  # longer, not slower
    slow = fleet.report(tmp_path, backend=fleet.Pool(2)).slow_runs()
    first, second = list(slow)[:2]
    assert os.path.basename(first.trace) == "slow.json.gz" and first.outlier and first.mostly == "idle"
    assert second.outlier is False
    assert slow.cells("extra ms")[0] == pytest.approx(0.55, rel=0.4)
    assert set(slow.cells("per")) == {"step"}


def test_runs_are_compared_within_their_group(tmp_path):
    training_run(tmp_path / "small" / "a.json.gz")
    training_run(tmp_path / "small" / "b.json.gz")
    training_run(tmp_path / "large" / "a.json.gz", gemm_us=9000)
    training_run(tmp_path / "large" / "b.json.gz", gemm_us=9000)
    got = fleet.report(tmp_path, backend=fleet.Pool(1))
    assert max(got.slow_runs().cells("times median")) > 1.5
    assert max(got.slow_runs(group=os.path.dirname).cells("times median")) == pytest.approx(1)
    groups = {trace: "one" for trace in got.traces}
    assert set(got.slow_runs(group=groups).cells("group")) == {"one"}


def test_the_op_that_differs_between_runs_is_first(tmp_path):
    for number in range(4):
        training_run(tmp_path / f"run{number}.json.gz", extra=[("aten::add", 40)])
    training_run(tmp_path / "other.json.gz", extra=[("aten::add", 40), ("aten::copy_", 300)])
    (first, *_) = fleet.report(tmp_path, backend=fleet.Pool(2)).differing_ops()
    assert (first.name, first.runs) == ("aten::copy_", 1)
    frame = fleet.report(tmp_path, backend=fleet.Pool(2)).differing_ops().to_pandas().set_index("name")
    assert frame.loc["aten::copy_", "spread ms"] == pytest.approx(0.3)
    assert frame.loc["aten::add", "spread ms"] == pytest.approx(0)
    assert frame.loc["aten::copy_", "slowest trace"].endswith("other.json.gz")


def test_the_rank_the_others_wait_for_is_first(tmp_path):
    for job in ("one", "two"):
        for rank in range(4):
            late = (job, rank) == ("two", 2)
            training_run(tmp_path / job / f"r{rank}.json.gz", rank=rank,
                         gemm_us=1000 + 500 * late, comm_us=600 - 500 * late)
    training_run(tmp_path / "alone" / "x.json.gz")
    got = fleet.report(tmp_path, backend=fleet.Pool(2))
    ranks = got.stragglers()
    (first, *others) = ranks
    assert (os.path.basename(first.job), first.rank, first.straggler) == ("two", 2, True)
    assert ranks.cells("late ms")[0] == pytest.approx(0.5)
    assert len(ranks) == 8 and not any(row.straggler for row in others)
    one = got.stragglers(job=lambda trace: "all")
    assert len(one) == 9


# --- Dask: a real cluster of several processes ---


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(pathlib.Path(__file__).parent), *sys.path])
    with distributed.LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None,
                                  silence_logs=60) as cluster, distributed.Client(cluster) as client:
        yield client


def worker_pids(client):
    return list(client.run(os.getpid).values())


def test_dask_gives_the_same_answer_as_the_pool(client, pair):
    dask = fleet.report(PAIR, backend=client)
    assert list(dask) == list(pair)
    assert all(dask[name] == pair[name] for name in pair)
    assert dask.runs == pair.runs and dask.slow_runs() == pair.slow_runs()
    assert dask.differing_ops() == pair.differing_ops()


def test_failures_are_the_same_on_dask(client, files):
    for function in (fleet_work.raise_some, fleet_work.away_once):
        pool = sorted(fleet.map(function, files, backend=fleet.Pool(2)), key=lambda pair: pair[0])
        dask = sorted(fleet.map(function, files, backend=client), key=lambda pair: pair[0])
        assert dask == pool


def test_a_dask_worker_killed_in_the_middle_loses_nothing(client, tmp_path, pair):
    for number in range(24):
        shutil.copy(PAIR[number % 3], tmp_path / f"{number:02}.json.gz")
    expected = fleet.report(tmp_path, tables=["ops_summary"], backend=fleet.Pool(2))
    victim, done = worker_pids(client)[0], []

    def kill_in_the_middle(count, total, failed):
        if count == 5 and not done:
            os.kill(victim, signal.SIGKILL)
            done.append(victim)

    got = fleet.report(tmp_path, tables=["ops_summary"], backend=client, progress=kill_in_the_middle)
    assert done and not got.failed
    assert got["ops_summary"] == expected["ops_summary"] and got.runs == expected.runs
    assert victim not in worker_pids(client)


def test_anything_else_is_no_backend():
    with pytest.raises(TypeError, match="expected a fleet.Pool"):
        list(fleet.map(fleet_work.name_of, PAIR, backend=7))


@pytest.mark.parametrize("name", [
    "run.json", "run.json.gz", "real.pftrace.zst", "x.perfetto-trace", "host.xplane.pb.zst", "gpu.rpd", "gpu.rpd.gz",
    "nsys.sqlite", "ranks.zip", "rp_results.json.gz", "kernel_kernel_trace.csv", "rocpd.DB"])
def test_every_name_of_a_trace_is_found(name, tmp_path):
    for each in (name, "notes.txt", "ops.csv"):
        (tmp_path / each).write_text("")
    assert fleet.find_traces(tmp_path) == [str(tmp_path / name)]
