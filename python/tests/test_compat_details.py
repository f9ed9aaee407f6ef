"""Small things of the stand-in's tables that programs notice: rounding, made-up ops, marks on events."""

import copy
import pickle

import pandas as pd
import pytest
from compat_events import launch, op, training_step, write_trace

from TraceLens import TraceToTree, TreePerfAnalyzer
from TraceLens.PerfModel import Normalization
from TraceLens.Reporting.generate_perf_report_pytorch import trunc_kernel_details


def test_mean_durations_are_rounded_as_numpy_does():
    for mean, rounded in ((5.025, 5.03), (5.025 + 1e-13, 5.03), (5.025 - 1e-13, 5.03), (0.125, 0.12)):
        row = {"k": [{"name": "a", "stream": 1, "mean_duration_us": mean}]}
        assert trunc_kernel_details(row, "k")[0]["mean_duration_us"] == rounded


def test_first_occurrences_are_whole_nanoseconds():
    start = 4158162441200.123
    events = [op("a", start, 30), *launch(1, start + 1, start + 5, 3),
              op("b", start + 198.409, 30), *launch(2, start + 199, start + 205, 3)]  # fmt: skip
    df = TreePerfAnalyzer(TraceToTree(events)).get_df_kernel_launchers(include_first_occurrence_time=True)
    made = TreePerfAnalyzer.get_df_kernel_launchers_unique_args(df)
    assert sorted(made["first_occurrence_time"]) == [0.0, 198.409]


def test_a_made_up_op_without_a_start_comes_first():
    def extension(tree):
        launched = tree.get_UID2event(tree.name2event_uids["cudaLaunchKernel"][-1])
        above = tree.get_parent_event(launched)
        made = {"ph": "X", "cat": "cpu_op", "name": "made", "pid": 1, "tid": 1, "UID": len(tree.events), "args": {},
                "parent": above["UID"], "children": [launched["UID"]], "gpu_events": launched["gpu_events"]}
        tree.events.append(made)
        tree.events_by_uid[made["UID"]] = made
        above["children"].remove(launched["UID"])
        above["children"].append(made["UID"])
        launched["parent"] = made["UID"]

    analyzer = TreePerfAnalyzer(TraceToTree(training_step()), tree_postprocess_extension=extension)
    assert [event["name"] for event in analyzer.get_kernel_launchers()][0] == "made"
    df = analyzer.get_df_kernel_launchers(include_first_occurrence_time=True)
    assert df["name"].iloc[0] == "made" and pd.isna(df["ts"].iloc[0])
    TreePerfAnalyzer.get_df_kernel_launchers_unique_args(df)


def test_modules_keep_their_busy_times(tmp_path):
    path = write_trace(tmp_path / "t.json.gz", training_step())
    analyzer = TreePerfAnalyzer.from_file(path, add_python_func=True)
    df = analyzer.get_df_kernels(nn_module_detail=True)
    module = analyzer.tree.get_UID2event(int(df["Parent nn.Module UID"].iloc[0]))
    assert (module["gpu_busy_time"], module["kernel_count"]) == (50, 1)


def test_summaries_of_nothing_are_empty():
    for name in ("", "_by_category", "_module", "_by_category_module"):
        made = getattr(TreePerfAnalyzer, "get_df_kernel_launchers_summary" + name)(pd.DataFrame())
        assert made.empty and len(made.columns)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
@pytest.mark.parametrize("of_file", [True, False])
def test_analyzers_and_trees_can_be_copied(copied, of_file, tmp_path):
    if of_file:
        path = write_trace(tmp_path / "t.json.gz", training_step())
        analyzer = TreePerfAnalyzer.from_file(path, add_python_func=True)
    else:
        analyzer = TreePerfAnalyzer(TraceToTree(training_step()), add_python_func=True)
    analyzer.build_df_unified_perf_table()
    other = copied(analyzer)
    tree = other.tree
    assert tree.events[3] is tree.events_by_uid[3] and tree.events[3] is not analyzer.tree.events[3]
    assert tree.events == analyzer.tree.events and tree.cpu_root_nodes == analyzer.tree.cpu_root_nodes
    before = analyzer.get_df_kernel_launchers()
    pd.testing.assert_frame_equal(other.get_df_kernel_launchers(), before, check_dtype=False)
    tree.events_by_uid[tree.name2event_uids["aten::relu"][0]]["name"] = "mine"
    assert "mine" in other.get_df_kernel_launchers()["name"].tolist()
    pd.testing.assert_frame_equal(analyzer.get_df_kernel_launchers(), before)
    assert copied(analyzer.tree).metadata == tree.metadata


def changed(key, change):
    def edit(tree):
        for event in tree.events:
            if event.get("cat") == "kernel":
                change(event)
    return pytest.param(edit, id=key)


def cut_gpu_events(tree):
    for uid in tree.name2event_uids["aten::mm"]:
        tree.get_UID2event(uid).pop("gpu_events")


def rename_threads(tree):
    for threads in tree.metadata.values():
        for thread in threads.values():
            thread["thread_name"] = "mine"


@pytest.mark.parametrize("edit", [
    changed("end", lambda kernel: kernel.update(t_end=kernel["ts"] + 1)),
    changed("duration alone", lambda kernel: kernel.update(dur=1)),
    changed("mark", lambda kernel: kernel.pop("tree")),
    changed("parent", lambda kernel: kernel.pop("parent")),
    pytest.param(cut_gpu_events, id="gpu_events"),
    pytest.param(rename_threads, id="metadata"),
    pytest.param(lambda tree: tree.cpu_root_nodes.clear(), id="roots"),
    pytest.param(lambda tree: tree.events.pop(), id="list"),
])  # fmt: skip
def test_every_edit_counts_in_tables_of_files(edit, tmp_path):
    path = write_trace(tmp_path / "t.json.gz", training_step())
    made = []
    for category in ({}, {"event_to_category": lambda event: event.get("cat")}):
        analyzer = TreePerfAnalyzer.from_file(path, add_python_func=True, **category)
        edit(analyzer.tree)
        made.append([attempt(analyzer.get_df_gpu_timeline), attempt(analyzer.get_df_kernel_launchers),
                     attempt(analyzer.get_df_kernels), attempt(analyzer.build_df_unified_perf_table)])
    for of_file, of_events in zip(*made):
        assert str(of_file) == str(of_events)


def attempt(table):
    try:
        return table().to_dict("list")
    except ValueError as error:
        return error


def test_marks_of_recomputation_count_in_tables_of_files(tmp_path):
    path = write_trace(tmp_path / "t.json.gz", training_step())
    analyzer = TreePerfAnalyzer.from_file(path, detect_recompute=True)
    for uid in analyzer.tree.name2event_uids["aten::relu"]:
        analyzer.tree.get_UID2event(uid)["is_recompute"] = True
    assert analyzer.get_df_kernel_launchers()["is_recompute"].sum() == 1
    assert analyzer.build_df_unified_perf_table()["is_recompute"].sum() == 1


def test_members_of_the_file_are_lists(tmp_path):
    members = {"deviceProperties": [{"id": 0}], "distributedInfo": {"pg_config": [{"ranks": [0, 1]}]}}
    analyzer = TreePerfAnalyzer.from_file(write_trace(tmp_path / "t.json.gz", training_step(), **members))
    assert {key: analyzer.trace_metadata[key] for key in members} == members


def test_a_method_of_a_subclass_may_categorize(tmp_path):
    class Mine(TreePerfAnalyzer):
        def op_categorizer(self, event):
            return "mine"

    df = Mine.from_file(write_trace(tmp_path / "t.json.gz", training_step())).get_df_kernel_launchers()
    assert set(df["op category"]) == {"mine"}


def test_ops_keep_what_they_said_as_launchers(tmp_path):
    """A copy that an op below launched runs beside something; the op's own kernel does not."""
    path = write_trace(tmp_path / "t.json.gz", [
        op("aten::mm", 0, 100, dims=[[8, 4], [4, 16]]), *launch(1, 5, 200, 50),
        op("inner", 40, 20), *launch(2, 45, 300, 50),
        op("beside", 200, 50), *launch(3, 210, 210, 30, "k", stream=9)])  # fmt: skip
    analyzer = TreePerfAnalyzer.from_file(path)
    launchers = analyzer.get_df_kernel_launchers().set_index("name")
    unified = analyzer.build_df_unified_perf_table().set_index("name")
    assert launchers.loc["aten::mm", "overlap_pct"] == 0.6
    assert unified.loc["aten::mm", "overlap_pct"] == 0.6  # of all its kernels it would be half of that


def test_columns_of_a_roofline_need_a_peak(tmp_path):
    arch = {"mem_bw_gbps": 4800, "max_achievable_tflops": {}}
    analyzer = TreePerfAnalyzer.from_file(write_trace(tmp_path / "t.json.gz", training_step()), arch=arch)
    assert not [column for column in analyzer.build_df_unified_perf_table() if "Roofline" in column]


def test_normalizations_have_formulas_of_the_backward_pass():
    # e = 4 per channel: 2 * (4e + 5e) in training; inputs twice, outputs, and four times the channels
    assert Normalization.flops_func_bwd(True, True, True, 8, 2, [True]) == 72
    assert Normalization.bytes_func_bwd(True, True, True, 8, 2, [True], 2, 4) == 8 * 4 + 8 * 2 * 2 + 4 * 2 * 2
