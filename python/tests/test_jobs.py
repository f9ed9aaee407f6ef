import gzip
import json

import pytest

import tracelens as tl


@pytest.fixture(scope="module")
def pair(data):
    return data / "h200_pair_base.json.gz", data / "h200_pair_math.json.gz"


@pytest.fixture(scope="module")
def ranks(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("ranks")
    import subprocess
    import sys

    subprocess.run([sys.executable, str(data / "make_ranks.py"), "--out", str(folder)], check=True,
                   capture_output=True)
    (folder / "truth.json").unlink()  # what went in: no trace
    return folder


def test_compare_and_its_gates(pair, tmp_path):
    slower = tl.compare(pair, names=["base", "new"], gates=["total_time > 0.001%"])
    faster = tl.compare(pair[::-1], gates=["total_time > 1000%"])
    assert faster.passed and not slower.passed == any(not gate.passed for gate in slower.gates)
    assert slower.conclusion and slower.key_tables[0].name == "what_changed"
    assert "gpu_timeline" in slower.tables
    slower.save(tmp_path / "c.xlsx")
    slower.save_gates(tmp_path / "gates.xml")
    assert "<testsuite" in (tmp_path / "gates.xml").read_text()
    with pytest.raises(tl.UsageError):
        tl.compare(pair, gates=["nonsense"])


def test_diff(pair):
    base, new = map(tl.read, pair)
    diff = tl.diff(base, new)
    assert diff.aligned and "diff_stats" in diff.tables and diff.note.startswith("#")
    assert tl.diff(*pair).tables["diff_stats"] == diff.tables["diff_stats"]


def test_collectives(ranks):
    by_folder = tl.collectives(ranks, gpus_per_node=8)
    by_pattern = tl.collectives(f"{ranks}/*.json*", gpus_per_node=8)
    opened = [tl.read(path) for path, _ in tl.rank_files(ranks)]
    by_traces = tl.collectives(opened, gpus_per_node=8)
    assert list(by_folder) == list(by_pattern) == list(by_traces) and len(by_folder) > 3
    with pytest.raises(tl.UsageError):
        tl.collectives([tl.read(b'{"traceEvents":[]}')])


def test_ranks_come_in_order_with_their_traces(ranks):
    files = tl.rank_files(ranks)
    seen = [(rank, t.source.path, len(t)) for rank, t in tl.ranks(ranks, memory="64M")]
    assert [(rank, path) for rank, path, _ in seen] == [(rank, path) for path, rank in files]
    assert all(size > 0 for _, _, size in seen)
    for _, t in tl.ranks(ranks):  # leaving early leaves no thread behind
        break
    with pytest.raises(tl.UsageError):
        next(tl.ranks(ranks, memory="much"))


def test_a_rank_that_cannot_be_read_raises_in_its_turn(ranks, tmp_path):
    import shutil

    shutil.copytree(ranks, tmp_path / "r")
    path, _ = tl.rank_files(tmp_path / "r")[1]
    open(path, "wb").write(b"<html>")
    reading = tl.ranks(tmp_path / "r")
    assert next(reading)[0] == 0
    with pytest.raises(tl.ReadError):
        next(reading)


def test_fuse(ranks, tmp_path):
    fused = tl.fuse(ranks, tmp_path / "fused.json.gz", only="nccl")
    assert fused.ranks == len(tl.rank_files(ranks)) and fused.events > 0
    document = json.load(gzip.open(tmp_path / "fused.json.gz"))
    assert len(document["traceEvents"]) >= fused.events


def test_diagnose(demo, tmp_path):
    diagnosis = demo.diagnose()
    first = diagnosis.findings[0]
    assert first.id == "OPT-1" and first.saving_ns > 0 and first.tries and first.evidence
    assert diagnosis.verdict and len(diagnosis) == len(diagnosis.findings)
    assert diagnosis.tables["findings"].cells("finding")[0] == "OPT-1"
    gate, = diagnosis.check(["saving > 1%"])
    assert not gate.passed
    diagnosis.save(tmp_path / "findings.json")
    assert [f.id for f in demo.diagnose(only=["OPT-*"]).findings] == ["OPT-1"]


def test_roofline(demo, tmp_path):
    points = tl.roofline(demo, gpu="H200")
    assert points.svg().startswith("<svg") and 0 < points.covered_percent <= 100
    points.save(tmp_path / "r.svg")
    points.save(tmp_path / "r.csv")
    assert len(points.to_pandas()) == len(points.table)
    with pytest.raises(tl.UsageError):
        tl.roofline(tl.read(b'{"traceEvents":[]}'))


def test_replay(demo):
    node = demo.tree.find(name="aten::mm")[0]
    script = tl.replay(demo, node.uid)
    compile(script, "replay.py", "exec")
    assert "aten::mm" in script and "aten::" in tl.replay(demo, top=3)
    for wrong in (lambda: tl.replay(demo), lambda: tl.replay(demo, 10**9),
                  lambda: tl.replay(demo, names=["no::such"])):
        with pytest.raises(tl.UsageError):
            wrong()
