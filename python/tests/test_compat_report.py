"""What the report functions of the stand-in return and raise."""

import json

import pytest
from compat_events import launch, op, write_trace
from TraceLens import TreePerfAnalyzer
from TraceLens.Reporting import generate_perf_report_pytorch
from TraceLens.Reporting.generate_perf_report_jax import generate_perf_report_jax
from TraceLens.Reporting.generate_perf_report_pftrace_hip_api import generate_perf_report_pftrace_hip_api
from TraceLens.Reporting.generate_perf_report_pytorch_inference import (
    generate_perf_report_pytorch as generate_inference_report,
)
from TraceLens.Reporting.generate_perf_report_rocprof import generate_perf_report_rocprof

import tracelens


@pytest.fixture
def trace(tmp_path):
    dims = [[16, 32], [32, 64]]
    return write_trace(tmp_path / "t.json.gz", [
        op("aten::mm", 10, 40, dims=dims), *launch(1, 15, 100, 10, "sgemm"),
        op("aten::mm", 60, 40, dims=dims), *launch(2, 65, 200, 10, "nvjet_x_NT")])  # fmt: skip


def test_parameters_of_models_are_texts(trace, tmp_path):
    sheets = generate_perf_report_pytorch(trace, output_csvs_dir=tmp_path / "o", group_by_num_kernels=True)
    rows = sheets["GEMM"].sort_values("UID_first")
    assert rows["param: M"].tolist() == ["16", "16"]
    assert rows["param: bias"].tolist() == ["False", "False"]
    assert rows["param: transpose"].tolist() == ["nan", "(False, True)"]  # no such parameter; a tuple
    assert rows["num_kernels"].tolist() == ["1", "1"]


def test_call_stacks_are_texts(trace, tmp_path):
    sheets = generate_perf_report_pytorch(trace, output_csvs_dir=tmp_path / "o", include_call_stack=True)
    assert all(isinstance(cell, str) for cell in sheets["unified_perf_summary"]["call_stack_full"])


@pytest.mark.parametrize("report", [
    generate_perf_report_pytorch, generate_perf_report_rocprof, generate_perf_report_jax,
    generate_perf_report_pftrace_hip_api])  # fmt: skip
def test_a_missing_file(report, tmp_path):
    with pytest.raises(FileNotFoundError) as raised:
        report(tmp_path / "none.json", output_csvs_dir=tmp_path / "o")
    assert isinstance(raised.value, tracelens.FileError)


def test_a_missing_second_file(trace, tmp_path):
    with pytest.raises(FileNotFoundError):
        generate_perf_report_pytorch(
            trace, output_csvs_dir=tmp_path / "o", comparison_json_path=tmp_path / "none.json")  # fmt: skip


@pytest.mark.parametrize("text, kind", [("{nonsense", json.JSONDecodeError), ('{"a": 1}', KeyError)])
def test_what_is_no_trace(text, kind, tmp_path):
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(kind) as raised:
        generate_perf_report_pytorch(path, output_csvs_dir=tmp_path / "o")
    assert isinstance(raised.value, tracelens.ReadError)


def test_an_extension_file_keeps_the_columns_of_a_second_trace(trace, tmp_path):
    other = write_trace(tmp_path / "other.json.gz", [
        op("aten::mm", 10, 40, dims=[[16, 32], [32, 64]]), *launch(1, 15, 100, 20, "sgemm"),
        op("aten::mm", 60, 40, dims=[[16, 32], [32, 64]]), *launch(2, 65, 200, 30, "nvjet_x_NT")])  # fmt: skip
    extension = tmp_path / "extension.py"
    extension.write_text("nothing = None\n")
    how = {"output_csvs_dir": tmp_path / "o", "comparison_json_path": other}
    native = generate_perf_report_pytorch(trace, **how)["unified_perf_summary"]
    assembled = generate_perf_report_pytorch(trace, extension_file=extension, **how)["unified_perf_summary"]
    assert list(assembled.columns) == list(native.columns)
    added = native.columns[native.columns.str.contains("lca_|trace1")]
    assert len(added) == 7 and native[added].values.tolist() == assembled[added].values.tolist()


def test_a_tree_of_ones_own_is_reported_on(trace, tmp_path):
    tree = TreePerfAnalyzer.from_file(trace).tree
    tree.get_UID2event(tree.name2event_uids["aten::mm"][0])["name"] = "mine"
    sheets = generate_inference_report(trace, output_csvs_dir=tmp_path / "o", augmented_tree=tree)
    assert sorted(sheets["ops_summary"]["name"]) == ["aten::mm", "mine"]


def test_short_idle_time_in_parts_of_microseconds(trace, tmp_path):
    made = {}
    for limit in (50, 50.5, 1000.0):
        sheets = generate_perf_report_pytorch(trace, output_csvs_dir=tmp_path / "o", micro_idle_thresh_us=limit)
        made[limit] = sheets["gpu_timeline"].set_index("type")["time ms"]
    assert "micro_idle_time" in made[50.5].index and made[50].equals(made[50.5])
    assert made[1000.0]["micro_idle_time"] > made[50]["micro_idle_time"]


def test_the_workbook_is_called_after_any_trace(trace, tmp_path, monkeypatch):
    path = tmp_path / "t.trace"
    path.write_bytes(open(trace, "rb").read())
    generate_perf_report_pytorch(path)
    assert (tmp_path / "t.trace_perf_report.xlsx").exists()
