"""TraceDiff: two traces laid over each other."""

import json

import pytest
from compat_events import launch, op

native = pytest.importorskip("tracelens._native")
if not hasattr(native, "merge_trees"):
    pytest.skip("this build does not lay trees over each other", allow_module_level=True)

from TraceLens import TraceDiff, TraceToTree


def tree_of(kernel, extra=()):
    tree = TraceToTree([op("aten::linear", 0, 100, dims=[[8, 4]]), op("aten::mm", 10, 50, dims=[[8, 4], [4, 2]]),
                        *launch(1, 20, 200, 30, kernel), *extra])
    tree.build_tree()
    return tree


def test_a_replaced_kernel_is_found_below_the_op_that_both_have(capsys):
    diff = TraceDiff(tree_of("gemm_a"), tree_of("gemm_b"))
    assert diff.diff_stats_df.empty and diff.get_diff_stats_df() is None
    diff.generate_tracediff_report()
    table = diff.diff_stats_df
    assert table[["name", "source", "cpu_op_name"]].values.tolist() == [
        ["gemm_a", "trace1", "aten::mm"], ["gemm_b", "trace2", "aten::mm"]]
    assert not diff.identical_traces and diff.cpu_op_map_trace1 == {"aten::mm": ["gemm_a"]}
    assert diff.get_df_diff_stats_unique_args("gemm_a", ["max"])["kernel_time_max"].tolist() == [30]
    assert set(diff.diff_stats_names_summary_df["source"]) == {"trace1", "trace2"}


def test_every_call_knows_its_counterpart(capsys):
    first, second = tree_of("gemm_a"), tree_of("gemm_b")
    diff = TraceDiff(first, second)
    nodes, roots = diff.merged_tree
    assert [nodes[root]["merged_type"] for root in roots] == ["combined"]
    assert diff.merged_uid_map[(1, 0)] == 0 == diff.get_corresponding_uid(1, 0)
    assert diff.get_corresponding_uid(first, 999) == -1
    diff.print_merged_subtree(uid_tree1=0)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "└── aten::linear" and lines[1] == "    └── aten::mm"
    assert any(">> trace1: gemm_a" in line or "gemm_a | gemm_b" in line for line in lines)
    with pytest.raises(ValueError, match="At least one of uid_tree1 or uid_tree2 must be provided."):
        diff.print_merged_subtree()
    with pytest.raises(ValueError, match="Could not find merged node for the given UID."):
        diff.print_merged_subtree(uid_tree2=10**9)


def test_files(tmp_path):
    diff = TraceDiff(tree_of("gemm_a"), tree_of("gemm_b"))
    diff.generate_tracediff_report()
    diff.print_tracediff_report_files(str(tmp_path / "out"))
    assert sorted(each.name for each in (tmp_path / "out").iterdir()) == [
        "cpu_op_map.json", "cpu_op_map_trace1.json", "cpu_op_map_trace2.json", "diff_stats.csv",
        "diff_stats_unique_args_summary.csv", "merged_tree_output.txt"]
    assert json.loads((tmp_path / "out" / "cpu_op_map_trace2.json").read_text()) == {"aten::mm": ["gemm_b"]}


def test_trees_stay_as_they_are():
    first = tree_of("gemm_a")
    before = json.dumps(first.events, default=str)
    TraceDiff(first, tree_of("gemm_b"))
    assert json.dumps(first.events, default=str) == before


def test_trees_without_ops_cannot_be_compared():
    empty = TraceToTree(launch(1, 20, 200, 30))
    empty.build_tree()
    with pytest.raises(ValueError, match="Both trees must have at least one root node"):
        TraceDiff(empty, tree_of("gemm_a"))
