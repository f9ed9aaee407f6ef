"""Tables of the native core are those that the dictionaries give."""

import json
import os
import warnings
from pathlib import Path

import pandas as pd
import pytest
from compat_events import training_step, write_trace

pytest.importorskip("tracelens._native")

from TraceLens import DataLoader, TraceToTree, TreePerfAnalyzer
from TraceLens.Reporting import generate_perf_report_pytorch
from TraceLens.Reporting import reporting_utils

DATA = Path(__file__).resolve().parents[2] / "tests" / "data"
TRACES = ["h200_gpt_train_amp", "h200_ops_zoo", "h200_streams_overlap"]
ARCH = {"mem_bw_gbps": 4800, "max_achievable_tflops": {"matrix_bf16": 800, "vector_fp32": 60}}


def path_of(name):
    return str(DATA / f"{name}.json.gz")


def both(name, **how):
    """The analyzer of a file, and one of the same events as dictionaries."""
    native = TreePerfAnalyzer.from_file(path_of(name), **how)
    plain = TreePerfAnalyzer(TraceToTree(DataLoader.load_data(path_of(name))["traceEvents"]), **how)
    assert native.tree.native_trace() is not None and plain.tree.native_trace() is None
    return native, plain


def same(native, plain):
    assert list(native.columns) == list(plain.columns) and len(native) == len(plain)
    assert native.dtypes.astype(str).to_dict() == plain.dtypes.astype(str).to_dict()
    for column in native.columns:
        if native[column].dtype == object:
            assert [simple(cell) for cell in native[column]] == [simple(cell) for cell in plain[column]], column
        else:
            pd.testing.assert_series_equal(native[column], plain[column], rtol=1e-9, atol=1e-6)


def simple(cell):
    """Floats as they are read by people, missing cells as None."""
    if isinstance(cell, float):
        return None if cell != cell else round(cell, 6)
    if isinstance(cell, dict):
        return {key: simple(value) for key, value in cell.items()}
    if isinstance(cell, (list, tuple)):
        return type(cell)(simple(value) for value in cell)
    return cell


@pytest.mark.parametrize("name", TRACES)
def test_launchers(name):
    native, plain = both(name, add_python_func=True)
    columns = {"id_cols": True, "include_kernel_details": True, "include_call_stack": True,
               "include_first_occurrence_time": True}
    same(native.get_df_kernel_launchers(**columns), plain.get_df_kernel_launchers(**columns))
    same(native.get_df_kernel_launchers(), plain.get_df_kernel_launchers())


@pytest.mark.parametrize("name", TRACES)
def test_timelines(name):
    native, plain = both(name)
    for threshold in (None, 5):
        same(native.get_df_gpu_timeline(threshold), plain.get_df_gpu_timeline(threshold))
    native.include_unlinked_kernels = plain.include_unlinked_kernels = True
    same(native.get_df_gpu_timeline(), plain.get_df_gpu_timeline())


@pytest.mark.parametrize("name", TRACES)
def test_kernels(name):
    native, plain = both(name, add_python_func=True)
    for analyzer in (native, plain):
        analyzer.get_df_kernel_launchers()  # categories depend on the kernels it leaves on ops
    columns = {"launcher_detail": True, "nn_module_detail": True}
    same(native.get_df_kernels(**columns), plain.get_df_kernels(**columns))


@pytest.mark.parametrize("name", TRACES)
def test_all_ops(name):
    native, plain = both(name, arch=ARCH)
    for analyzer in (native, plain):
        analyzer.get_df_kernel_launchers()
    same(native.build_df_unified_perf_table(), plain.build_df_unified_perf_table())


def test_figures_are_on_events_that_are_looked_at_afterwards():
    native, plain = both("h200_streams_overlap")
    native.get_df_kernel_launchers()
    plain.get_df_kernel_launchers()
    keys = ("kernel_details", "op category", "overlap_pct", "total_direct_kernel_time", "overlapping_uids")
    for theirs, ours in zip(plain.tree.events, native.tree.events):
        assert simple({key: theirs.get(key) for key in keys}) == simple({key: ours.get(key) for key in keys})


def test_figures_are_on_events_that_were_in_hand_before():
    native, _ = both("h200_streams_overlap")
    launcher = native.tree.get_UID2event(int(native.get_df_kernel_launchers()["UID"].iloc[0]))
    del launcher["kernel_details"]
    native.get_df_kernel_launchers()
    assert launcher["kernel_details"]


def test_edits_of_a_files_tree_count():
    native = TreePerfAnalyzer.from_file(path_of("h200_ops_zoo"))
    before = native.get_df_kernel_launchers()
    for uid in native.tree.name2event_uids["aten::topk"]:
        native.tree.get_UID2event(uid)["name"] = "my::topk"
    after = native.get_df_kernel_launchers()
    assert (before["name"] == "aten::topk").sum() == (after["name"] == "my::topk").sum() > 0


@pytest.mark.parametrize("options", [{}, {"include_call_stack": True, "short_kernel_study": True},
                                     {"include_overlap_info": True, "kernel_summary": True, "gpu_arch": ARCH}])
def test_the_report_is_the_same_with_and_without_an_extension(tmp_path, options):
    empty = tmp_path / "extension.py"
    empty.write_text("")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        native = generate_perf_report_pytorch(path_of("h200_ops_zoo"), output_csvs_dir=str(tmp_path / "a"), **options)
        plain = generate_perf_report_pytorch(path_of("h200_ops_zoo"), output_csvs_dir=str(tmp_path / "b"),
                                             extension_file=str(empty), **options)
    assert list(native) == list(plain)
    for name in native:
        assert list(native[name].columns) == list(plain[name].columns), name
        assert native[name].shape == plain[name].shape, name
        for column in native[name].columns:
            if native[name][column].dtype.kind == "f":
                pd.testing.assert_series_equal(native[name][column], plain[name][column].astype(float), rtol=1e-6)
    assert sorted(os.listdir(tmp_path / "a")) == sorted(os.listdir(tmp_path / "b"))


def test_workbooks_are_written_beside_the_trace_by_default(tmp_path):
    path = write_trace(tmp_path / "run.json.gz", training_step())
    sheets = generate_perf_report_pytorch(path)
    assert (tmp_path / "run_perf_report.xlsx").stat().st_size > 1000
    assert sheets["ops_summary"]["name"].tolist() == ["aten::mm", "aten::relu"]


def test_files_that_are_no_traces_fail_as_json_would(tmp_path):
    with pytest.raises(FileNotFoundError):
        TreePerfAnalyzer.from_file(tmp_path / "nowhere.json")
    for text, error in (("{nonsense", json.JSONDecodeError), ('{"other": 1}', KeyError)):
        (tmp_path / "x.json").write_text(text)
        with pytest.raises(error):
            TreePerfAnalyzer.from_file(str(tmp_path / "x.json"))


def test_gpu_figures_by_platform_file_or_dict(tmp_path):
    found = reporting_utils.resolve_gpu_arch(gpu_arch_platform="MI300X")
    assert found["mem_bw_gbps"] == 5300 and found["max_achievable_tflops"]["matrix_bf16"] == 708
    (tmp_path / "gpu.json").write_text(json.dumps(ARCH))
    assert reporting_utils.resolve_gpu_arch(gpu_arch_json_path=str(tmp_path / "gpu.json")) == ARCH
    assert reporting_utils.resolve_gpu_arch() is None
    with pytest.raises(ValueError, match="at most one"):
        reporting_utils.resolve_gpu_arch(gpu_arch=ARCH, gpu_arch_platform="MI300X")
    with pytest.raises(KeyError, match="Unknown GPU platform"):
        reporting_utils.resolve_gpu_arch(gpu_arch_platform="Voodoo2")
