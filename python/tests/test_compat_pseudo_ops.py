"""The stand-in's pseudo ops and captured graphs."""

import pytest
from compat_events import event, launch, op, write_trace

from TraceLens import TraceToTree, TreePerfAnalyzer
from TraceLens.Trace2Tree.extensions import (
    apply_pseudo_op_extensions,
    inject_pseudo_op,
    inject_pseudo_op_above_event,
    inject_pseudo_op_wrap_children,
    normalize_sglang_profiler_op_names,
)
from TraceLens.Trace2Tree.trace_capture_merge_experimental import (
    find_closest_batch_size,
    merge_capture_trace_into_graph,
)


def serving():
    """One MoE layer of vLLM, with two products that no op stands for."""
    return [op("vllm::moe_forward", 0, 100, dims=[[8, 4], [8, 2]], **{"External id": 1, "Sequence number": 3}),
            *launch(1, 10, 200, 50, "_matmul_ogs_swiglu"), *launch(2, 30, 260, 40, "_matmul_ogs")]


def built(events):
    tree = TraceToTree(events)
    tree.build_tree()
    return tree


def by_name(tree, name):
    return next(each for each in tree.events if each["name"] == name)


def test_the_cores_pseudo_ops_come_into_trees_of_lists_and_of_files(tmp_path):
    path = write_trace(tmp_path / "t.json.gz", serving())
    seen = TreePerfAnalyzer.from_file(path).tree
    seen.events[0]["mine"] = 1
    of_file = TreePerfAnalyzer.from_file(path, enable_pseudo_ops=True).tree
    for tree in (built(serving()), seen):
        apply_pseudo_op_extensions(tree)
        up = by_name(tree, "pseudo_op::moe_triton_unfused_up")
        assert up["UID"] == len(serving()) and up["args"]["MoE GEMM type"] == "up"
        assert tree.get_UID2event(up["UID"]) is up and tree.get_gpu_events(up)[0]["name"] == "_matmul_ogs_swiglu"
        keys = ("name", "parent", "children", "gpu_events")
        assert [[e.get(k) for k in keys] for e in tree.events] == [[e.get(k) for k in keys] for e in of_file.events]
        assert tree.cpu_root_nodes == of_file.cpu_root_nodes
    assert seen.events[0]["mine"] == 1


def test_a_tree_without_such_work_stays():
    for events in ([], [op("aten::mm", 0, 9)]):
        tree = built(events)
        apply_pseudo_op_extensions(tree, verbose=True)
        assert len(tree.events) == len(events)


def test_an_op_around_one_kernel():
    tree = built(serving())
    kernel, layer = by_name(tree, "_matmul_ogs"), tree.events[0]
    made = inject_pseudo_op(tree, kernel, "my::product", seq_num=9, types=["x"], extra_args={"more": 1})
    assert made["args"]["Input Dims"] == [[8, 4], [8, 2]] and made["args"]["Input type"] == ["x"]
    assert (made["args"]["Sequence number"], made["args"]["External id"], made["args"]["more"]) == (9, 2, 1)
    assert tree.events[made["UID"]] is made and layer["children"][-1] == made["UID"]
    assert made["children"] == [kernel["parent"]] and kernel["parent"] not in layer["children"]
    assert tree.seq_num2event_uids_map[9] == [made["UID"]]


def test_an_op_around_all_children_and_above_an_event():
    tree = built(serving())
    layer = tree.events[0]
    below = list(layer["children"])
    made = inject_pseudo_op_wrap_children(tree, layer, "my::inside", shape_donor_evt=layer)
    assert layer["children"] == [made["UID"]] and made["children"] == below
    assert all(tree.get_UID2event(uid)["parent"] == made["UID"] for uid in below)
    assert tree.cpu_root_nodes == [0, made["UID"]]
    over = inject_pseudo_op_above_event(tree, made, "my::over")
    assert layer["children"] == [over["UID"]] and made["parent"] == over["UID"] and over["parent"] == 0
    assert over["gpu_events"] == made["gpu_events"] == layer["gpu_events"]
    assert inject_pseudo_op_above_event(tree, layer, "my::nothing") is None
    assert inject_pseudo_op_wrap_children(tree, by_name(tree, "_matmul_ogs"), "my::nothing") is None


def test_running_numbers_of_sglang():
    tree = built([op("sglang_profiler::gemm_1", 0, 9), op("sglang_profiler::gemm_2", 10, 9)])
    normalize_sglang_profiler_op_names(tree)
    assert tree.name2event_uids["sglang_profiler::gemm"] == [0, 1]
    assert tree.events[1]["name"] == "sglang_profiler::gemm"


def test_captured_graphs(tmp_path):
    assert find_closest_batch_size(128, [64, 256, 512]) == 256 and find_closest_batch_size(600, [512]) is None
    folder = tmp_path / "captures"
    folder.mkdir()
    write_trace(folder / "capture.json.gz", [
        event("python_function", "run", 0, 200), event("cuda_runtime", "cudaStreamBeginCapture", 5, 5),
        op("aten::mm", 20, 40, dims=[[8, 4], [4, 8]]),
        event("cuda_runtime", "cudaLaunchKernel", 30, 2, correlation=1, kernel="gemm"),
        event("cuda_runtime", "cudaStreamEndCapture", 100, 5)])
    path = write_trace(tmp_path / "replay.json.gz", [
        event("user_annotation", "execute_8_context_0(sq0sk0sqsq0sqsk0)_generation_8(sq8sk8sqsq8sqsk8)", 0, 100),
        event("cuda_runtime", "cudaGraphLaunch", 10, 20, correlation=7),
        event("kernel", "gemm", 50, 10, pid=0, tid=7, correlation=7, stream=7)])
    tree = merge_capture_trace_into_graph(folder, folder / "execution_details.json", path)
    kernel = by_name(tree, "gemm")
    assert tree.traverse_parents_and_get_callstack(kernel, filter=None)[:3] == ["gemm", "cudaLaunchKernel", "aten::mm"]
    analyzer = TreePerfAnalyzer(tree, rebuild_tree=False, add_python_func=True)
    assert "aten::mm" in set(analyzer.get_df_kernel_launchers()["name"])
    with pytest.raises(ValueError, match="expected execution_details.json in the folder"):
        merge_capture_trace_into_graph(folder, tmp_path / "other.json", path)
