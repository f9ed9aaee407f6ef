"""Rows per op, kernel, event and module of the core: what the stand-in's frames are made of."""

import json
import pathlib

import pytest

_native = pytest.importorskip("tracelens._native")

DATA = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data"


def columns(table):
    return [name for name, *_ in table.columns]


def column(table, name):
    return table.values(columns(table).index(name))


@pytest.fixture(scope="module")
def trained():
    return _native.read(str(DATA / "h200_gpt_train_amp.json.gz"))


@pytest.fixture(scope="module")
def rows(trained):
    return _native.Rows(trained.tree())


def test_launchers_have_the_columns_of_the_reference(rows):
    table = rows.launchers(ids=True, kernels=True)
    assert columns(table) == [
        "name", "op category", "UID", "total_direct_kernel_time", "total_subtree_kernel_time",
        "direct_kernel_count", "overlapping_kernel_names", "overlapping_kernels_details", "overlap_pct",
        "Input Dims", "Input type", "Input Strides", "Concrete Inputs", "pid", "tid", "external_id",
        "kernel_details", "num_kernels", "process_name", "process_label", "thread_name",
    ]  # fmt: skip
    assert len(table) > 100
    first = column(table, "kernel_details")[0]
    assert isinstance(first, list) and sorted(first[0]) == ["dur", "name", "stream"]
    dims = [cell for cell in column(table, "Input Dims") if cell is not None]
    assert all(isinstance(cell, tuple) for cell in dims)
    counts = column(table, "num_kernels")
    assert [len(cell) for cell in column(table, "kernel_details")] == list(counts)


def test_the_time_of_kernels_is_that_of_their_launchers(rows):
    launchers = rows.launchers(kernels=True)
    by_op = dict(zip(column(launchers, "UID"), column(launchers, "total_direct_kernel_time")))
    for uid, details in zip(column(launchers, "UID"), column(launchers, "kernel_details")):
        if len(details) == 1:
            assert by_op[uid] == pytest.approx(details[0]["dur"])


def test_kernels_name_their_launch_op_and_module(trained):
    tree = trained.tree(python_frames=True)
    table = _native.Rows(tree).kernels(launch=True, module=True)
    names = columns(table)
    assert names.index("Launcher") < names.index("Parent cpu_op") < names.index("Parent nn.Module")
    modules = [name for name in column(table, "Parent nn.Module") if name is not None]
    assert modules and all(name.startswith("nn.Module: ") for name in modules)


def test_unified_rows_count_every_kernel_once(rows):
    table = rows.unified(callers=True)
    kernels = [kernel["gpu_op_uid"] for cell in column(table, "kernel_details") for kernel in cell]
    assert len(kernels) == len(set(kernels))
    assert set(column(table, "has_perf_model")) == {0, 1}
    assert any(isinstance(cell, dict) and "M" in cell for cell in column(table, "perf_params"))


def test_perf_rows_follow_the_events_given_and_say_why_there_is_no_answer(trained, rows):
    launchers = rows.launchers()
    mm = [u for u, n in zip(column(launchers, "UID"), column(launchers, "name")) if n == "aten::mm"]
    arch = {"name": "x", "mem_bw_gbps": 4800, "max_achievable_tflops": {"matrix_bf16": 800}}
    held = _native.Rows(trained.tree(), gpu=json.dumps(arch))
    table = held.perf(mm[::-1] + [0], kernels=True, arguments=True, non_data_mov=True)
    assert list(column(table, "UID")) == [*mm[::-1], 0]
    assert column(table, "problem_kind")[:-1] == [None] * len(mm)
    assert column(table, "problem_kind")[-1] == "no model"
    assert (column(table, "GFLOPS")[:-1] > 0).all()
    assert column(table, "Input Dims")[0][0] == list(column(table, "Input Dims")[0][0])
    assert set(columns(table)) >= {"Roofline Time (µs)", "Pct Roofline", "Non-Data-Mov TFLOPS/s"}
    backward = held.perf(mm, backward=True)
    assert "has_backward" in columns(backward)
    with pytest.raises(IndexError):
        held.perf([10**9])
    with pytest.raises(IndexError):
        held.perf([-1])


def test_ops_that_python_has_models_for_are_taken_whole(trained):
    plain = _native.Rows(trained.tree()).unified()
    assert "aten::_softmax" not in [
        n for n, m in zip(column(plain, "name"), column(plain, "has_perf_model")) if m
    ]
    own = _native.Rows(trained.tree(), modelled={"aten::embedding": "Embedding"}).unified()
    found = [
        (category, has)
        for name, category, has in zip(
            column(own, "name"), column(own, "op category"), column(own, "has_perf_model")
        )
        if name == "aten::embedding"
    ]
    assert found and set(found) == {("Embedding", 1)}


def test_modules_below_a_module(trained):
    rows = _native.Rows(trained.tree(python_frames=True))
    kernels = rows.kernels(module=True)
    inner = next(
        int(uid)
        for uid, name in zip(column(kernels, "Parent nn.Module UID"), column(kernels, "Parent nn.Module"))
        if name is not None
    )
    parent = rows.module_parent(inner)
    assert inner in rows.module_children(parent)
    table = rows.modules(parent)
    assert column(table, "UID")[0] == parent
    assert column(table, "nn_module_children")[0] == rows.module_children(parent)
    summed, busy, gpu = rows.gpu_work(parent)
    assert busy <= summed and gpu
    assert column(table, "GPU Time")[0] == pytest.approx(busy)
    assert rows.gpu_work(0)[2] == []


def test_timeline_of_any_tree(rows):
    table = rows.timeline()
    assert list(column(table, "type"))[:2] == ["computation_time", "exposed_comm_time"]
    assert "micro_idle_time" in list(column(rows.timeline(micro_idle_us=5), "type"))


def test_two_trees_laid_over_each_other():
    first = _native.read(str(DATA / "h200_pair_base.json.gz"))
    second = _native.read(str(DATA / "h200_pair_math.json.gz"))
    merged = _native.merge_trees(first.tree(), second.tree())
    nodes = merged.nodes
    assert columns(nodes)[:5] == ["merged_id", "uid1", "uid2", "merged_type", "children"]
    kinds = column(nodes, "merged_type")
    assert set(kinds) <= {"combined", "trace1", "trace2"} and "combined" in kinds
    children = column(nodes, "children")
    seen = sorted(child for cell in children for child in cell) + sorted(merged.roots)
    assert len(set(seen)) == len(nodes)
    uid_map = merged.uid_map
    both = {key: other for key, other in uid_map.items() if other != -1}
    assert both and all(uid_map[(3 - side, other)] == uid for (side, uid), other in both.items())
    assert "source" in columns(merged.diff_stats)
    assert len(merged.summary) > 0
    assert json.loads(merged.op_map)
    same = _native.merge_trees(first.tree(), first.tree())
    assert same.identical and "source" not in columns(same.diff_stats)
    assert set(column(same.nodes, "merged_type")) == {"combined"}


def test_collectives_of_several_ranks(tmp_path):
    def kernel(ts, dur, name="ncclDevKernel_AllReduce", **args):
        meta = {"correlation": 1, "stream": 20, "Process Group Name": "0", "Collective name": "allreduce",
                "Group size": 2, "dtype": "Float", "In msg nelems": 1024, "Out msg nelems": 1024,
                "In split size": "[]", "Out split size": "[]", "Process Group Ranks": "[0, 1]", **args}  # fmt: skip
        return {"ph": "X", "cat": "kernel", "name": name, "ts": ts, "dur": dur, "pid": 0, "tid": 20, "args": meta}

    paths = []
    for rank in (0, 1):
        events = [kernel(4000000000020.25 + rank, 5.5), kernel(4000000000010.125 + rank, 3)]
        if rank:
            events.append(kernel(4000000000030, 1, name="mylib_gather_kernel", **{"Collective name": None}))
        path = tmp_path / f"rank{rank}.json"
        path.write_text(json.dumps({"traceEvents": events}))
        paths.append(str(path))
    table = _native.collective_rows(paths)
    assert list(column(table, "rank")) == [0, 0, 1, 1]
    assert column(table, "collective_id") == ["0_1", "0_0", "0_1", "0_0"]
    assert list(column(table, "ts_ns"))[:2] == [4000000000020250, 4000000000010125]
    assert columns(table)[-4:] == ["ts", "dur", "ts_ns", "dur_ns"]
    own = _native.collective_rows(paths, patterns=[("mylib_.*gather", "all_gather")])
    assert column(own, "Collective name")[-1] == "all_gather"
    with pytest.raises(_native.Error, match="nowhere.json"):
        _native.collective_rows([str(tmp_path / "nowhere.json")])
