"""The stand-in's call tree: links, look-ups and text."""

import copy
import pickle

import numpy as np
import pytest
from compat_events import event, launch, names, op, training_step

from TraceLens import TraceToTree


@pytest.fixture
def tree():
    made = TraceToTree(training_step())
    made.build_tree(add_python_func=True)
    return made


def by_name(tree, name, nth=0):
    return [each for each in tree.events if each["name"] == name][nth]


def test_events_are_new_dicts_that_share_their_args_with_the_callers():
    events = training_step()
    tree = TraceToTree(events)
    assert tree.events[3] is not events[3] and tree.events[3] == {**events[3], "UID": 3, "t_end": 200}
    assert tree.events[3]["args"] is events[3]["args"]
    assert "UID" not in events[3]


def test_calls_and_kernels_know_who_called_them(tree):
    mm = by_name(tree, "aten::mm")
    assert tree.get_parent_event(mm)["name"] == "aten::linear"
    assert [child["name"] for child in tree.get_children_events(mm)] == ["cudaLaunchKernel"]
    kernel = tree.get_gpu_events(mm)[0]
    assert kernel["name"] == "gemm_kernel" and tree.get_parent_event(kernel)["name"] == "cudaLaunchKernel"
    assert by_name(tree, "nn.Module: Net_0")["gpu_events"] == [kernel["UID"], by_name(tree, "relu_kernel")["UID"]]
    assert tree.get_gpu_events(kernel) == []


def test_what_is_not_so_has_no_key(tree):
    net = by_name(tree, "nn.Module: Net_0")
    assert "parent" not in net and "cpu_op_root" not in net and "non_gpu_path" not in net
    assert by_name(tree, "aten::linear")["cpu_op_root"] is True
    assert by_name(tree, "aten::mm")["nn_module_stack"] == ["nn.Module: Net", "nn.Module: Linear"]
    assert tree.events[0]["non_gpu_path"] is True and tree.events[0]["cat"] is None


def test_modules_are_told_without_frames_only_by_an_error():
    tree = TraceToTree(training_step())
    tree.build_tree()
    assert by_name(tree, "aten::mm")["nn_module_stack"] == ["root"]
    with pytest.raises(ValueError, match="requires the add_python_func flag"):
        tree.get_nn_module_children(by_name(tree, "nn.Module: Net_0"))


def test_module_look_ups_are_kept_on_the_events(tree):
    net, linear = by_name(tree, "nn.Module: Net_0"), by_name(tree, "nn.Module: Linear_0")
    assert tree.get_nn_module_children(net) == [linear["UID"]] == net["nn_module_children"]
    assert tree.get_nn_module_parent(linear) == net["UID"] == linear["nn_module_parent"]
    assert tree.get_nn_module_parent(net) is None


def test_backward_ops_are_linked_by_their_sequence_number(tree):
    forward = by_name(tree, "aten::linear")
    backward = by_name(tree, "autograd::engine::evaluate_function: MmBackward0")
    assert backward["fwd_event"] == forward["UID"] and forward["bwd_events"] == [backward["UID"]]
    assert tree.get_subtree_bwd_events(forward["UID"]) == [backward["UID"]]
    assert tree.get_seq_nums_for_node_subtree(forward["UID"]) == {5}


def test_building_again_replaces(tree):
    before = copy.deepcopy(tree.events)
    tree.build_tree(add_python_func=True)
    assert tree.events == before


def test_a_call_that_ends_after_its_caller_is_a_neighbour_or_left_out():
    events = [op("outer", 0, 100), op("first", 10, 20), op("bleeds", 29.5, 40), op("crosses", 60, 80)]
    tree = TraceToTree(events)
    tree.build_tree()
    outer, first, bleeds, crosses = tree.events
    assert outer["children"] == [first["UID"], bleeds["UID"]]
    assert "parent" not in crosses and "nn_module_stack" not in crosses and crosses["tree"] is True


def test_graph_launches_have_all_kernels_of_their_correlation():
    events = [event("cuda_runtime", "cudaGraphLaunch", 0, 5, correlation=9)]
    events += [event("kernel", f"k{i}", 10 + i, 1, pid=0, tid=7, correlation=9, stream=7) for i in range(3)]
    tree = TraceToTree(events)
    tree.build_tree()
    assert tree.events[0]["gpu_events"] == [1, 2, 3] == tree.events[0]["children"]


def test_streams_are_numbered(tree):
    assert tree.dict_stream_index2event[(7, 1)]["name"] == "relu_kernel"
    assert by_name(tree, "relu_kernel")["args"]["stream_index"] == 1


def test_uids_of_tables_find_events(tree):
    assert tree.get_UID2event(np.int64(4)) is tree.events[4] is tree.get_UID2event(4.0)
    with pytest.raises(KeyError, match="999"):
        tree.get_UID2event(999)
    assert tree.name2event_uids["no such op"] == []
    assert tree.get_node_by_ext_id_pid_tid(12, 1, 1) is by_name(tree, "aten::mm")
    assert tree.get_node_by_ext_id_pid_tid(12, 1, 2) is None


def test_the_subtree_as_text(tree, capsys):
    assert tree.traverse_subtree_and_print(by_name(tree, "aten::linear"), cpu_op_fields=("Input Dims",)) is None
    uid = by_name(tree, "aten::linear")["UID"]
    assert capsys.readouterr().out == (
        f"└── UID: {uid}, Category: cpu_op, Name: aten::linear\n"
        "    |   Input Dims: [[8, 4], [16, 4]]\n"
        "    |   \n"
        f"    └── UID: {uid + 1}, Category: cpu_op, Name: aten::mm\n"
        "        |   Input Dims: [[8, 4], [4, 16]]\n"
        "        |   \n"
        f"        └── UID: {uid + 2}, Category: cuda_runtime, Name: cudaLaunchKernel\n"
        f"            └── UID: {uid + 3}, Category: kernel, Name: gemm_kernel, Duration: 50\n")


def test_the_subtree_shows_backward_calls_behind_the_children(tree, capsys):
    tree.traverse_subtree_and_print(by_name(tree, "aten::linear"), include_bwd=True)
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("    ├── ") and lines[4].startswith("    └── [BWD] autograd::engine")
    assert lines[5].startswith("        └── UID: ") and "aten::mm" in lines[5]


def test_the_way_up_as_text_gives_the_root(tree, capsys):
    root = tree.traverse_parents_and_print(by_name(tree, "gemm_kernel"))
    assert root is by_name(tree, "nn.Module: Net_0")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Node:" and lines[2] == "1-up:" and lines[-1].endswith("Name: nn.Module: Net_0")


def test_the_way_up_follows_the_forward_call(tree, capsys):
    root = tree.traverse_parents_and_print(by_name(tree, "gemm_backward"), follow_fwd_link=True)
    assert root is by_name(tree, "nn.Module: Net_0")
    assert "Following fwd_event link to forward call stack" in capsys.readouterr().out


def test_call_stacks_keep_what_the_filter_names(tree):
    kernel = by_name(tree, "gemm_kernel")
    assert tree.traverse_parents_and_get_callstack(kernel) == ["gemm_kernel"]
    assert tree.traverse_parents_and_get_callstack(kernel, filter=("nn.Module",)) == [
        "gemm_kernel", "nn.Module: Linear_0", "nn.Module: Net_0"]
    assert len(tree.traverse_parents_and_get_callstack(kernel, filter=None)) == 6
    backward = by_name(tree, "gemm_backward")
    stack = tree.traverse_parents_and_get_callstack(backward, filter=("nn.Module",), follow_fwd_link=True)
    assert stack == ["gemm_backward", "[FWD]", "aten::linear", "nn.Module: Linear_0", "nn.Module: Net_0"]


def test_deep_stacks_need_no_recursion(capsys):
    depth = 3000
    events = [event("python_function", f"f{i}", i, 2 * depth - 2 * i) for i in range(depth)]
    tree = TraceToTree(events)
    tree.build_tree(add_python_func=True)
    tree.traverse_subtree_and_print(tree.events[0], prune_non_gpu=False)
    assert len(capsys.readouterr().out.splitlines()) == depth
    assert len(tree.traverse_parents_and_get_callstack(tree.events[-1], filter=None)) == depth


def test_annotations_are_those_that_last_longer():
    events = [event("user_annotation", "step", 0, 100), op("vllm::attention", 10, 20), op("vllm::late", 95, 5)]
    tree = TraceToTree(events)
    tree.apply_annotation(["vllm::"])
    assert [each.get("annotation") for each in tree.events] == [None, "step", "NA"]


def test_events_travel_between_processes(tree):
    mm = by_name(tree, "aten::mm")
    assert pickle.loads(pickle.dumps(mm)) == mm


def test_metadata_is_by_process_and_thread():
    tree = TraceToTree([*names(pid=4, process="p", t9="worker"), *launch(1, 0, 5, 1)])
    assert tree.metadata[4][0]["process_name"] == "p" and tree.metadata[4][9]["thread_name"] == "worker"


def test_an_event_without_phase_is_refused():
    with pytest.raises(KeyError, match="ph"):
        TraceToTree([{"name": "x"}])
