import io
import json
import sys

import numpy as np
import pytest

import tracelens as tl


def test_nodes_and_arrays_tell_the_same(demo):
    tree = demo.tree
    nodes = list(tree)
    assert len(nodes) == len(tree)
    assert [node.uid for node in nodes] == tree.event.tolist()
    none = np.iinfo(np.uint32).max
    for node in nodes[:: len(nodes) // 500]:
        above = tree.parent[node.index]
        assert (node.parent is None) == (above == none)
        if node.parent is not None:
            assert node.parent.index == above and node in node.parent.children
        below = list(node.walk())
        assert [each.index for each in below] == list(range(node.index, int(tree.end[node.index])))
        assert node.gpu_count == tree.gpu_count[node.index] == len(node.gpu_events)
        assert node.gpu_time_ns == tree.gpu_sum_ns[node.index]
        assert node.gpu_time_ns == sum(event.dur_ns for event in node.gpu_events)
        assert node.busy_ns <= node.gpu_time_ns


def test_sums_over_slices_are_sums_over_subtrees(demo):
    tree = demo.tree
    own = np.array([1 if e.category in ("kernel", "gpu_memcpy", "gpu_memset") else 0
                    for e in (demo.events[int(row)] for row in tree.event)])
    before = np.concatenate([[0], np.cumsum(own)])
    assert np.array_equal(before[tree.end] - before[:-1], tree.gpu_count)


def test_find_and_climb(demo):
    tree = demo.tree
    mm = tree.find(name="aten::mm")
    assert mm and all(node.is_op and node.name == "aten::mm" for node in mm)
    assert tree[mm[0].uid] == mm[0] and mm[0].uid in tree
    assert np.uint32(mm[0].uid) in tree and len(demo) not in tree and "aten::mm" not in tree
    kernel = tree.find(category="kernel")[0]
    assert kernel.launch == kernel.parent and kernel.op in kernel.ancestors()
    assert kernel.ancestors()[-1].parent is None
    assert kernel.path().count("\n") >= len(kernel.ancestors())
    backward = next(node for node in tree if node.forward is not None)
    assert backward in backward.forward.backward
    flow = next(e for e in demo.events if e.node is None)
    with pytest.raises(KeyError):
        tree[flow.uid]
    with pytest.raises(IndexError):
        tree[len(demo)]


def test_nodes_are_values(demo):
    node = demo.tree.find(name="aten::mm")[0]
    again = demo.tree.find(name="aten::mm")[0]
    assert node == again and hash(node) == hash(again) and {node, again} == {node}
    assert node < demo.tree.find(name="aten::mm")[1]
    assert node != demo.build_tree(python_frames=True)[node.uid]
    assert node != 7 and repr(node) == f"Node({node.uid}, 'aten::mm')"
    with pytest.raises(TypeError):
        type(node)()


def test_a_node_outlives_trace_and_tree(data):
    node = tl.read(data / "h200_ops_zoo.json.gz").tree.roots[0]
    assert sum(1 for _ in node.walk()) >= 1 and node.name


def test_printed(demo, capsys):
    tree = demo.tree
    tree.print(depth=1)
    assert "(" in capsys.readouterr().out
    op = tree.find(name="aten::addmm")[0]
    out = io.StringIO()
    tree.print(op, file=out)
    lines = out.getvalue().splitlines()
    assert len(lines) == sum(1 for _ in op.walk()) and lines[0].startswith("aten::addmm (")
    only = io.StringIO()
    tree.print(op, layers=["ops"], file=only)
    assert len(only.getvalue().splitlines()) == sum(
        node.is_op for node in op.walk())
    assert "share" in str(tree)
    with pytest.raises(tl.UsageError):
        tree.print(layers=["roof"])


def test_modules_need_python_stacks(demo):
    assert "nn.Module: GPT_0" in demo.tree.modules().to_csv()
    assert tl.from_events([{"ph": "X", "cat": "cpu_op", "name": "a", "ts": 1, "dur": 2}]).tree.modules() is None


def test_walking_runs_no_python(demo):
    """Nodes and their properties come from the extension module: a line of Python for each would be dear."""
    entered = []
    sys.setprofile(lambda frame, event, what: entered.append(event) if event == "call" else None)
    try:
        for node in demo.tree:
            node.name
    finally:
        sys.setprofile(None)
    assert len(demo.tree) > 1000 and len(entered) < 10


def test_modules_are_those_of_the_tree_that_is_asked():
    def event(kind, name, start, length, **args):
        tid = 7 if kind == "kernel" else 1
        return {"ph": "X", "cat": kind, "name": name, "ts": start, "dur": length, "pid": tid, "tid": tid, "args": args}

    trace = tl.read(json.dumps({"traceEvents": [
        event("python_function", "nn.Module: Linear_0", 5, 60, **{"Python id": 1, "Python module id": 0}),
        event("cpu_op", "aten::mm", 10, 40), event("cuda_runtime", "cudaLaunchKernel", 15, 5, correlation=7),
        event("kernel", "gemm", 100, 10, correlation=7, stream=7, device=0)]}).encode())
    launched = {tied: trace.build_tree(link_by_correlation=tied).modules() for tied in (False, True)}
    column = next(column.name for column in launched[True].columns if "kernel" in column.name.lower())
    assert (launched[False].cells(column), launched[True].cells(column)) == ([0], [1])
