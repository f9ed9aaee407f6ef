"""The stand-in's analyzer and tree of JAX profiles."""

import copy
import gzip

import pytest

from TraceLens import DataLoader, JaxTraceToTree, TreePerfAnalyzer
from TraceLens.TreePerf.tree_perf import JaxTreePerfAnalyzer


@pytest.fixture
def profile(data, tmp_path):
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(gzip.decompress((data / "jax_fp8.xplane.pb.gz").read_bytes()))
    return path


def test_launchers_are_the_events_of_the_tree(profile):
    analyzer = JaxTreePerfAnalyzer.from_file(profile_filepath=profile)
    df = analyzer.get_df_kernel_launchers(include_kernel_details=True)
    events = analyzer.get_kernel_launchers()
    assert [event["name"] for event in events] == df["name"].tolist()
    assert [event["dur"] for event in events] == pytest.approx(df["total_direct_kernel_time"].tolist())
    assert [event["gpu_kernel_op_cat"] for event in events] == df["op category"].tolist()
    assert all(analyzer.tree.get_UID2event(event["UID"]) is event for event in events)
    assert "kernel_details" not in analyzer.get_df_kernel_launchers().columns


def test_launchers_of_some_categories(profile):
    analyzer = JaxTreePerfAnalyzer.from_file(profile)
    df = analyzer.get_df_kernel_launchers(gpu_kernel_op_cats=["GEMM"])
    assert set(df["op category"]) == {"GEMM"} and len(df) < len(analyzer.get_df_kernel_launchers())


def test_metrics_of_kernels_with_a_model(profile):
    analyzer = JaxTreePerfAnalyzer.from_file(profile)
    df = analyzer.build_df_perf_metrics(analyzer.get_kernel_launchers(), include_args=True)
    assert list(df.columns[:12]) == [
        "name", "UID", "pid", "process_name", "process_label", "thread_name", "dur", "cat", "op category",
        "perf model", "GFLOPS", "Kernel Time (µs)"]  # fmt: skip
    assert set(df["perf model"]) == {"jax_gemm"} and (df["TFLOPS/s"] > 0).all()
    first = analyzer.tree.get_UID2event(df["UID"].iloc[0])
    assert analyzer.compute_perf_metrics(first)["GFLOPS"] == df["GFLOPS"].iloc[0]


def test_kernels_are_below_the_host_events_of_their_number(profile):
    tree = JaxTraceToTree(DataLoader.load_data(profile)["traceEvents"])
    tree.build_tree()
    assert tree.linking_key == "correlation_id"
    kernels = [event for event in tree.events if event["cat"] == "kernel"]
    parents = [tree.get_parent_event(kernel) for kernel in kernels]
    assert parents and all(kernel["UID"] in above["gpu_events"] for kernel, above in zip(kernels, parents))


def test_the_analyzer_of_any_trace_takes_profiles(profile):
    analyzer = TreePerfAnalyzer.from_file(profile, jax=True)
    assert isinstance(analyzer, JaxTreePerfAnalyzer) and len(analyzer.get_df_gpu_timeline()) == 8
    assert analyzer.gpu_event_analyser.gpu_pids == [1]
    assert len(copy.deepcopy(analyzer).get_df_kernels()) == len(analyzer.get_df_kernels())


def test_a_missing_profile(tmp_path):
    with pytest.raises(FileNotFoundError):
        JaxTreePerfAnalyzer.from_file(tmp_path / "none.xplane.pb")


def test_arguments_of_events_are_lists(data):
    """As a document of JSON has them, also where the events are no texts."""
    tree = TreePerfAnalyzer.from_file(data / "jax_fp8.xplane.pb.gz").tree
    shapes = [event["args"]["Input Dims"] for event in tree.events if "Input Dims" in (event.get("args") or {})]
    assert shapes and all(isinstance(each, list) for shape in shapes for each in [shape, *shape])
