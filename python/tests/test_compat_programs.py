"""Small programs as users write them: what each public method gives, by name and type."""

import copy
import json
import pickle

import numpy as np
import pandas as pd
import pytest

import TraceLens
from TraceLens import GPUEventAnalyser, TraceToTree, TreePerfAnalyzer
from TraceLens.PerfModel import torch_op_mapping

LAUNCHERS = ["name", "op category", "UID", "total_direct_kernel_time", "total_subtree_kernel_time",
             "direct_kernel_count", "overlapping_kernel_names", "overlapping_kernels_details", "overlap_pct"]
ARGUMENTS = ["Input Dims", "Input type", "Input Strides", "Concrete Inputs"]
PLACES = ["process_name", "process_label", "thread_name"]


@pytest.fixture(scope="module")
def path(data):
    return data / "h200_gpt_train_amp.json.gz"


@pytest.fixture(scope="module")
def analyzer(path):
    return TreePerfAnalyzer.from_file(path)


@pytest.fixture(scope="module")
def with_frames(path):
    return TreePerfAnalyzer.from_file(path, add_python_func=True)


def test_dir_lists_models_and_report_functions():
    assert {"GEMM", "SDPA", "generate_perf_report_pytorch", "TreePerfAnalyzer"} <= set(dir(TraceLens))


def test_columns_of_launchers(analyzer, with_frames):
    assert list(analyzer.get_df_kernel_launchers().columns) == [*LAUNCHERS, *ARGUMENTS, *PLACES]
    every = with_frames.get_df_kernel_launchers(
        id_cols=True, include_kernel_details=True, include_call_stack=True, include_first_occurrence_time=True)
    assert list(every.columns) == [*LAUNCHERS, "ts", *ARGUMENTS, "pid", "tid", "external_id", "kernel_details",
                                   "num_kernels", "call_stack", "parent_module", *PLACES]
    assert every["UID"].dtype == np.int64 and isinstance(every["Input Dims"][0], tuple)
    few = analyzer.get_df_kernel_launchers(args_cols=["Input Dims"])
    assert "Input Dims" in few.columns and "Input type" not in few.columns


def test_static_summaries_take_frames_of_several_ranks(analyzer):
    launchers = analyzer.get_df_kernel_launchers(include_kernel_details=True)
    both = pd.concat([launchers.assign(rank=0), launchers.assign(rank=1)])
    summary = TreePerfAnalyzer.get_df_kernel_launchers_summary(both)
    assert summary["Count"].sum() == 2 * len(launchers)
    assert isinstance(summary["Categories"][0], list)
    assert summary["total_direct_kernel_time_sum"].is_monotonic_decreasing
    unique = TreePerfAnalyzer.get_df_kernel_launchers_unique_args(both)
    assert unique["operation_count"].sum() == 2 * len(launchers)
    pd.testing.assert_series_equal(
        unique["total_direct_kernel_time_sum"] / 2,
        TreePerfAnalyzer.get_df_kernel_launchers_unique_args(launchers)["total_direct_kernel_time_sum"])


def test_summaries_say_what_is_missing():
    with pytest.raises(KeyError, match="name"):
        TreePerfAnalyzer.get_df_kernel_launchers_summary(pd.DataFrame({"x": [1]}))
    with pytest.raises(ValueError, match="No valid columns found to group by."):
        TreePerfAnalyzer.get_df_kernel_launchers_unique_args(pd.DataFrame({"x": [1]}))
    assert TreePerfAnalyzer.get_df_kernel_launchers_summary(pd.DataFrame()).empty


def test_rows_without_a_name_are_left_out_of_summaries():
    frame = pd.DataFrame({"name": ["a", None, "b", "a"], "op category": ["x", "x", "y", "y"],
                          "total_direct_kernel_time": [1.0, 2.0, 3.0, 4.0]})
    summary = TreePerfAnalyzer.get_df_kernel_launchers_summary(frame)
    assert summary["name"].tolist() == ["a", "b"] and summary["Count"].tolist() == [2, 1]
    assert summary["Categories"].tolist() == [["x", "y"], ["y"]]


def test_kernels_of_any_kind_of_number_have_statistics():
    lists = [[{"name": "k", "dur": 1, "stream": 7}], [{"name": "k", "dur": 2.5, "stream": 7}], [], None,
             [{"name": "k", "dur": 4.0, "stream": 7}, {"name": "j", "dur": 1.0, "stream": 7}]]
    frame = pd.DataFrame({"name": ["op"] * 5, "UID": range(5), "total_direct_kernel_time": [1.0] * 5,
                          "kernel_details": lists})
    with pytest.warns(UserWarning, match="Inconsistent kernel list length found. Skipping a row."):
        row = TreePerfAnalyzer.get_df_kernel_launchers_unique_args(frame).iloc[0]
    assert row["kernel_details_summary"] == [
        {"name": "k", "stream": 7, "count": 2, "total_duration_us": 3.5, "mean_duration_us": 1.75}]


def test_what_analyses_leave_on_events_is_plain_data(path):
    analyzer = TreePerfAnalyzer.from_file(path)
    analyzer.get_df_kernels()
    analyzer.get_df_kernel_launchers(include_kernel_details=True)
    analyzer.build_df_unified_perf_table()
    for event in analyzer.tree.events:
        if event.get("cat") == "cpu_op" and "gpu_busy_time" in event:
            plain = {key: value for key, value in event.items() if key != "overlapping_uids"}
            assert json.loads(json.dumps(plain))["UID"] == event["UID"]
            assert type(pickle.loads(pickle.dumps(event))) is dict and type(copy.deepcopy(event)) is dict


def test_call_stacks_of_kernels_are_lists_of_their_own(with_frames):
    table = with_frames.build_df_unified_perf_table()
    stacks = [kernel["call_stack"] for cell in table["kernel_details"] if cell for kernel in cell
              if "call_stack" in kernel]
    assert len({id(stack) for stack in stacks}) == len(stacks)
    equal = [stack for stack in stacks if stack == stacks[0]]
    assert all(a is b for one in equal for a, b in zip(one, equal[0]))  # the texts are shared
    summary = with_frames.summarize_df_unified_perf_table(table, include_call_stack=True)
    assert summary["call_stack_full"].map(type).eq(str).all() and "entry_point" in summary.columns


def test_columns_of_kernels(analyzer):
    kernels = analyzer.get_df_kernels(launcher_detail=True)
    assert all(str(kernels[column].dtype) == "Int64" for column in kernels.columns
               if "UID" in column or "count" in column)
    kernel = analyzer.tree.get_UID2event(kernels["UID"][0])
    assert analyzer.get_kernel_details(kernel)["Kernel name"] == kernels["Kernel name"][0]


def test_a_list_and_a_file_give_the_same_tables(path):
    import gzip

    with gzip.open(path) as file:
        events = json.load(file)["traceEvents"]
    one, other = TreePerfAnalyzer(TraceToTree(events)), TreePerfAnalyzer.from_file(path)
    a, b = (each.get_df_kernel_launchers() for each in (one, other))
    pd.testing.assert_frame_equal(a[LAUNCHERS[:6]], b[LAUNCHERS[:6]], rtol=1e-6, atol=1e-3)
    ours, theirs = (each.get_df_kernel_launchers_summary(frame) for each, frame in ((one, a), (other, b)))
    assert ours["name"].tolist() == theirs["name"].tolist()


def test_intervals_and_raw_events():
    events = [{"ph": "X", "cat": "kernel", "name": "k", "ts": 10 * i, "dur": 5, "args": {"stream": 7}}
              for i in range(4)]
    metrics = GPUEventAnalyser(events).compute_metrics()
    assert metrics["busy_time"] == 20 and metrics["total_time"] == 35 and metrics["exposed_comm_time"] == 0
    assert GPUEventAnalyser.merge_intervals([(0, 5), (3, 8), (10, 11)]) == [(0, 8), (10, 11)]


def test_a_model_class_of_a_made_up_event():
    cls = torch_op_mapping.resolve_perf_model_class("aten::mm")
    model = cls(event={"name": "aten::mm", "args": {
        "Input Dims": [[2, 3], [3, 4]], "Input type": ["float", "float"],
        "Input Strides": [[3, 1], [4, 1]], "Concrete Inputs": ["", ""]}}, arch=None, python_path=None)
    assert model.flops() == 2 * 2 * 3 * 4 and model.bytes() == 4 * (6 + 12 + 8)
