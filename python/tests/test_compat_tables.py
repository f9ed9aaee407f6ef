"""Tables of the stand-in's analyzer over dictionaries: launchers, kernels, models, all ops."""

import warnings

import numpy as np
import pandas as pd
import pytest
from compat_events import event, launch, names, op, training_step

from TraceLens import TraceToTree, TreePerfAnalyzer
from TraceLens.PerfModel.torch_op_mapping import op_to_perf_model_class_map
from TraceLens.TreePerf._groups import Groups


def analyzer_of(events, **how):
    return TreePerfAnalyzer(TraceToTree(events), **how)


@pytest.fixture
def analyzer():
    return analyzer_of(training_step(), add_python_func=True)


def test_a_launcher_is_the_nearest_op_and_execute_is_looked_through():
    events = [op("model", 0, 100), op("execute", 5, 80), *launch(1, 10, 200, 30)]
    df = analyzer_of(events).get_df_kernel_launchers()
    assert df["name"].tolist() == ["model"]


def test_a_kernel_without_an_op_is_charged_to_its_call():
    df = analyzer_of(launch(1, 10, 200, 30)).get_df_kernel_launchers()
    assert df[["name", "total_direct_kernel_time"]].values.tolist() == [["cudaLaunchKernel", 30]]


def test_launchers_have_their_columns_in_order(analyzer):
    df = analyzer.get_df_kernel_launchers(id_cols=True, include_kernel_details=True, include_call_stack=True,
                                          include_first_occurrence_time=True)
    assert list(df.columns) == [
        "name", "op category", "UID", "total_direct_kernel_time", "total_subtree_kernel_time",
        "direct_kernel_count", "overlapping_kernel_names", "overlapping_kernels_details", "overlap_pct", "ts",
        "Input Dims", "Input type", "Input Strides", "Concrete Inputs", "pid", "tid", "external_id",
        "kernel_details", "num_kernels", "call_stack", "parent_module", "process_name", "process_label",
        "thread_name"]
    assert df["name"].tolist() == ["aten::mm", "aten::relu", "aten::mm"]
    assert df["parent_module"].tolist() == ["nn.Module: Linear", "nn.Module: Net", "NA"]
    assert df["Input Dims"].iloc[0] == ((8, 4), (4, 16))
    assert df["kernel_details"].iloc[1] == [{"name": "relu_kernel", "dur": 10, "stream": 7}]
    assert df["thread_name"].tolist() == ["main", "main", "autograd"]


def test_tables_leave_their_figures_on_the_launchers(analyzer):
    analyzer.get_df_kernel_launchers()
    relu = next(each for each in analyzer.tree.events if each["name"] == "aten::relu")
    assert relu["total_direct_kernel_time"] == 10 and relu["direct_kernel_count"] == 1
    assert relu["op category"] == "other" and relu["overlap_pct"] is None


def test_no_launchers_no_columns():
    assert analyzer_of([op("aten::view", 0, 5)]).get_df_kernel_launchers().shape == (0, 0)


def test_communication_is_left_out_unless_asked_for():
    events = [op("c10d::allreduce_", 0, 50), *launch(1, 5, 60, 40, "ncclDevKernel_AllReduce")]
    analyzer = analyzer_of(events)
    assert analyzer.get_kernel_launchers() == []
    assert [each["name"] for each in analyzer.get_kernel_launchers(include_nccl=True)] == ["c10d::allreduce_"]


def test_what_runs_beside_on_another_stream_is_told():
    events = [op("a", 0, 20), *launch(1, 5, 100, 50, "left"), op("b", 30, 20), *launch(2, 35, 110, 10, "right", 8)]
    df = analyzer_of(events).get_df_kernel_launchers()
    assert df["overlapping_kernel_names"].tolist() == [["right"], ["left"]]
    assert df["overlap_pct"].tolist() == [0.2, 1.0]
    assert df["overlapping_kernels_details"].iloc[0] == [
        {"name": "right", "dur": 10.0, "stream": 8, "overlap_pct": 0.2}]


def test_busy_time_counts_overlapping_kernels_once_and_exactly():
    start = 4_000_000_000_000.125
    events = [op("a", 0, 20), *launch(1, 5, start, 10.001), *launch(2, 8, start + 4, 10.002, stream=8)]
    assert analyzer_of(events).get_df_kernel_launchers()["total_direct_kernel_time"].tolist() == [14.002]


def test_a_categorizer_sees_the_launcher_with_its_figures(analyzer):
    analyzer.op_categorizer = lambda launcher: "long" if launcher["total_direct_kernel_time"] > 20 else "short"
    df = analyzer.get_df_kernel_launchers_summary_by_category(analyzer.get_df_kernel_launchers())
    assert df["op category"].tolist() == ["long", "short"] and df["Count"].tolist() == [2, 1]


def test_subclasses_change_the_tables():
    class Longest(TreePerfAnalyzer):
        def get_kernel_launchers(self, *args, **kwargs):
            return [each for each in super().get_kernel_launchers(*args, **kwargs) if each["total_direct_kernel_time"] > 20]

    made = Longest(TraceToTree(training_step()))
    assert made.get_df_kernel_launchers()["name"].tolist() == ["aten::mm", "aten::mm"]


def test_the_summary_by_name_is_sorted_by_time(analyzer):
    df = TreePerfAnalyzer.get_df_kernel_launchers_summary(analyzer.get_df_kernel_launchers())
    assert df["name"].tolist() == ["aten::mm", "aten::relu"]
    assert df["total_direct_kernel_time_sum"].tolist() == [80, 10]
    assert df["Count"].tolist() == [2, 1] and df["Categories"].tolist() == [["GEMM"], ["other"]]
    assert df["Cumulative Percentage (%)"].tolist() == pytest.approx([800 / 9, 100])


def test_unique_arguments_are_grouped_by_text_across_frames(analyzer):
    df = analyzer.get_df_kernel_launchers(include_kernel_details=True)
    both = pd.concat([df, analyzer_of(training_step()).get_df_kernel_launchers(include_kernel_details=True)])
    unique = TreePerfAnalyzer.get_df_kernel_launchers_unique_args(both, agg_metrics=["std", "mean"], include_pct=True)
    assert unique["operation_count"].tolist() == [2, 2, 2]
    assert list(unique.columns[9:16]) == [
        "operation_count", "total_direct_kernel_time_mean", "total_subtree_kernel_time_mean",
        "total_direct_kernel_time_std", "total_subtree_kernel_time_std", "total_direct_kernel_time_sum",
        "total_subtree_kernel_time_sum"]
    assert unique["kernel_details_summary"].iloc[0] == [
        {"name": "gemm_kernel", "stream": 7, "count": 2, "total_duration_us": 100, "mean_duration_us": 50.0,
         "std_dev_duration_us": 0.0}]


def test_equal_texts_of_unlike_objects_are_one_group():
    df = pd.DataFrame({"name": ["a", "a"], "Input Dims": [(1, 2), "(1, 2)"], "total_direct_kernel_time": [1.0, 2.0],
                       "UID": [4, 2]})
    unique = TreePerfAnalyzer.get_df_kernel_launchers_unique_args(df)
    assert unique["operation_count"].tolist() == [2] and unique["ex_UID"].tolist() == [4]


def test_rows_with_other_numbers_of_kernels_are_left_out_of_the_statistics_with_a_warning():
    one, two = [{"name": "k", "dur": 1.0, "stream": 7}], [{"name": "k", "dur": 2.0, "stream": 7}] * 2
    df = pd.DataFrame({"name": ["a"] * 3, "kernel_details": [one, two, one], "total_direct_kernel_time": [1.0, 4, 1]})
    with pytest.warns(UserWarning, match="Inconsistent kernel list length found. Skipping a row."):
        unique = TreePerfAnalyzer.get_df_kernel_launchers_unique_args(df)
    assert unique["kernel_details_summary"].iloc[0][0]["count"] == 2


def test_nothing_to_group_by_is_an_error():
    with pytest.raises(ValueError, match="No valid columns found to group by."):
        TreePerfAnalyzer.get_df_kernel_launchers_unique_args(pd.DataFrame({"x": [1]}))


def test_kernels_have_nullable_numbers(analyzer):
    events = training_step() + [event("kernel", "unlinked", 900, 5, pid=0, tid=7, correlation=99, stream=7)]
    df = analyzer_of(events, add_python_func=True).get_df_kernels(launcher_detail=True, nn_module_detail=True)
    assert df["Kernel name"].tolist() == ["gemm_kernel", "relu_kernel", "gemm_backward", "unlinked"]
    assert str(df["Parent cpu_op UID"].dtype) == str(df["Parent nn.Module kernel count"].dtype) == "Int64"
    assert df["Parent nn.Module"].tolist()[:2] == ["nn.Module: Linear_0", "nn.Module: Net_0"]
    assert pd.isna(df["Parent cpu_op"].iloc[3]) and df["Percent of Parent cpu_op busy time (%)"].iloc[0] == 100


def test_module_times_are_written_onto_the_modules(analyzer):
    tree = analyzer.tree
    net = next(each for each in tree.events if each["name"] == "nn.Module: Net_0")
    analyzer.build_nn_module_latency_tree(net)
    linear = tree.get_UID2event(net["nn_module_children"][0])
    assert (net["GPU Time"], net["nn Parent GPU Time"], net["Non-nn.Module GPU Time"]) == (60, None, 10)
    assert (linear["GPU Time"], linear["nn Parent GPU Time"]) == (50, 60) and "Non-nn.Module GPU Time" not in linear
    with pytest.raises(ValueError, match="not an nn.Module event"):
        analyzer.build_nn_module_latency_tree(tree.get_UID2event(net["children"][-1]))
    with pytest.raises(ValueError, match="include Python function events"):
        analyzer_of(training_step()).build_nn_module_latency_tree(net)


class Fixed:
    """Two operations and four bytes, whatever the op."""

    category = "fixed"

    def __init__(self, event, arch=None, python_path=None):
        self.param_details = {"kernels": len(event["kernel_details"])}

    def flops(self):
        return 2e9

    def bytes(self):
        return 4e6

    def get_maf_type(self):
        return "vector"

    def get_compute_precision(self):
        return "fp32"


def relus(analyzer):
    return [each for each in analyzer.tree.events if each["name"] == "aten::relu"]


def test_metrics_of_a_model_of_ones_own(analyzer):
    analyzer.arch = {"mem_bw_gbps": 1000, "max_achievable_tflops": {"vector_fp32": 100}}
    found = analyzer.compute_perf_metrics(relus(analyzer)[0], perf_model_class=Fixed)
    assert found == {
        "GFLOPS": 2.0, "Kernel Time (µs)": 10.0, "TFLOPS/s": pytest.approx(200), "Data Moved (MB)": 4e6 / 2**20,
        "FLOPS/Byte": 500.0, "TB/s": pytest.approx(0.4), "Compute Spec": "vector_fp32",
        "Roofline Time (µs)": pytest.approx(20), "Roofline Bound": "COMPUTE_BOUND",
        "Pct Roofline": pytest.approx(200), "param: kernels": 1}
    assert relus(analyzer)[0]["kernel_details"][0]["gpu_op_uid"] == relus(analyzer)[0]["gpu_events"][0]


def test_an_op_without_a_model_cannot_be_asked(analyzer):
    with pytest.raises(TypeError, match="'NoneType' object is not callable"):
        analyzer.compute_perf_metrics(relus(analyzer)[0])


def test_models_that_fail_are_counted_and_those_that_decline_are_not(analyzer):
    class Fails(Fixed):
        def flops(self):
            raise ZeroDivisionError("no")

    class Declines(Fixed):
        def bytes(self):
            raise NotImplementedError

    with pytest.warns(UserWarning, match="Found 1/1 events with failed performance metric computation."):
        assert analyzer.build_df_perf_metrics(relus(analyzer), dict_name_to_perf_model={"aten::relu": Fails}).empty
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert analyzer.build_df_perf_metrics(relus(analyzer), dict_name_to_perf_model={"aten::relu": Declines}).empty


def test_metrics_are_summed_up_by_parameters_as_texts(analyzer):
    df = analyzer.build_df_perf_metrics(relus(analyzer) * 2, include_kernel_details=True, include_args=True,
                                        dict_name_to_perf_model={"aten::relu": Fixed})
    assert df["Input Dims"].iloc[0] == [[8, 16]]
    made = TreePerfAnalyzer.summarize_df_perf_metrics(df, ["mean"])
    assert made["param: kernels"].tolist() == ["1"] and made["name_count"].tolist() == [2]
    assert made["Kernel Time (µs)_sum"].tolist() == [20] and made["UID_first"].tolist() == [df["UID"][0]]


def test_gemms_backward_time_is_that_of_the_linked_ops(analyzer):
    linear = next(each for each in analyzer.tree.events if each["name"] == "aten::linear")

    class Both(Fixed):
        flops_bwd, bytes_bwd = Fixed.flops, Fixed.bytes

    found = analyzer.build_df_perf_metrics([linear], bwd=True, dict_name_to_perf_model={"aten::linear": Both})
    assert found["Kernel Time (µs)"].tolist() == [30]
    with pytest.warns(UserWarning, match="without backward events"):
        analyzer.build_df_perf_metrics(relus(analyzer), bwd=True, dict_name_to_perf_model={"aten::relu": Both})


def test_all_gpu_work_is_in_the_unified_table_once():
    events = [op("model", 0, 200), op("aten::mm", 10, 30, dims=[[8, 4], [4, 16]]), *launch(1, 15, 300, 50),
              *launch(2, 60, 400, 20, "stray_copy"), op("aten::view", 100, 5), *launch(3, 500, 600, 7, "lonely")]
    analyzer = analyzer_of(events)
    df = analyzer.build_df_unified_perf_table()
    assert df["name"].tolist() == ["aten::mm", "cudaLaunchKernel->lonely (Synthetic Op)", "model->stray_copy (Synthetic Op)"]
    assert df["Kernel Time (µs)"].tolist() == [50, 7, 20] and df["has_perf_model"].tolist() == [True, False, False]
    assert df["perf_params"].iloc[0]["M"] == 8 and df["perf_params"].iloc[1] is None
    assert df["UID"].tolist()[1:] == [len(events), len(events) + 1]
    made_up = analyzer.tree.get_UID2event(np.int64(len(events) + 1))
    assert made_up["gpu_events"] == [analyzer.tree.name2event_uids["stray_copy"][0]]
    summary = TreePerfAnalyzer.summarize_df_unified_perf_table(df)
    assert summary["Kernel Time (µs)_sum"].tolist() == [50, 20, 7]


def test_registered_models_count_for_every_analyzer(analyzer):
    op_to_perf_model_class_map["aten::relu"] = Fixed
    try:
        df = analyzer.build_df_unified_perf_table()
        row = df[df["name"] == "aten::relu"].iloc[0]
        assert row["has_perf_model"] and row["GFLOPS"] == 2.0 and row["perf_params"] == {"kernels": 1}
    finally:
        del op_to_perf_model_class_map["aten::relu"]


def test_edits_of_the_tree_count_in_the_tables(analyzer):
    for relu in relus(analyzer):
        relu["name"] = "my::relu"
    for uid in analyzer.tree.name2event_uids["relu_kernel"]:
        analyzer.tree.get_UID2event(uid).update(dur=25, t_end=185)
    df = analyzer.get_df_kernel_launchers()
    assert df[["name", "total_direct_kernel_time"]].values.tolist()[1] == ["my::relu", 25]


def test_recomputation_is_told_apart():
    events = [event("python_function", "torch/utils/checkpoint.py(12): recompute_fn", 0, 100), op("aten::mm", 10, 20),
              *launch(1, 12, 200, 30), op("aten::mm", 200, 20), *launch(2, 205, 300, 40)]
    analyzer = analyzer_of(events, detect_recompute=True)
    assert analyzer.add_python_func
    df = analyzer.get_df_kernel_launchers()
    assert df["is_recompute"].tolist() == [True, False]
    timeline = analyzer.get_df_gpu_timeline()
    busy = timeline[timeline["type"] == "busy_time"]
    assert busy[["time ms", "is_recompute"]].values.tolist() == [[0.04, False], [0.03, True]]


def test_the_timeline_needs_gpu_events():
    with pytest.raises(ValueError, match="No GPU events found in the trace"):
        analyzer_of([op("aten::view", 0, 5), *names()]).get_df_gpu_timeline()


def test_sums_over_subtrees_take_a_filter(analyzer):
    roots = [analyzer.tree.get_UID2event(uid) for uid in analyzer.tree.cpu_root_nodes]
    total, uids = analyzer.loop_and_aggregate_kernels(roots, filter_func=lambda kernel: kernel["dur"] > 20)
    assert total == 80 and len(uids) == 2


def test_aggregates_are_those_of_pandas():
    numbers = np.random.default_rng(7)
    frame = pd.DataFrame({"key": numbers.integers(0, 20, 200).astype(str), "real": numbers.normal(size=200),
                          "whole": numbers.integers(0, 9, 200)})
    frame.loc[frame["key"] == "3", "real"] = np.nan
    frame.loc[::7, "real"] = np.nan
    groups = Groups(frame, ["key"])
    for column in ("real", "whole"):
        for how in ("sum", "min", "max", "mean", "std", "median"):
            expected = frame[column].groupby(groups.number).agg(how).reset_index(drop=True)
            got = pd.Series(groups.aggregate(column, how))
            pd.testing.assert_series_equal(got, expected, check_names=False)


def test_equal_sums_tie_whatever_the_order_of_their_parts():
    parts = [0.1, 0.2, 0.3, 0.4, 2.019, 2.039]
    frame = pd.DataFrame({"name": ["b"] * 6 + ["a"] * 6, "total_direct_kernel_time": parts + parts[::-1],
                          "UID": range(12)})
    assert TreePerfAnalyzer.get_df_kernel_launchers_unique_args(frame)["name"].tolist() == ["b", "a"]
