"""The stand-in's trees of files: threads, lists of the program's own, what analyses leave, errors of reading."""

import json
import pickle
import subprocess
import sys
import threading
import warnings

import pytest
from compat_events import op, training_step, write_trace

import tracelens as tl
from TraceLens import DataLoader, NcclAnalyser, TraceFuse, TraceToTree, TreePerfAnalyzer


def together(*functions):
    """What each gives; all start at the same time."""
    ready, found = threading.Barrier(len(functions)), [None] * len(functions)

    def run(place, function):
        ready.wait()
        found[place] = function()

    threads = [threading.Thread(target=run, args=each) for each in enumerate(functions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_threads_that_ask_first_get_the_same_events(data):
    for _ in range(8):
        analyzer = TreePerfAnalyzer.from_file(data / "h200_streams_overlap.json.gz")
        launchers, tree = analyzer.get_df_kernel_launchers(), analyzer.tree
        uid = int(launchers["UID"].iloc[0])
        of_list, by_uid = together(lambda: tree.events[uid], lambda: tree.get_UID2event(uid))
        assert of_list is by_uid and "total_direct_kernel_time" in by_uid


def test_the_shipped_registries_are_read_once_by_threads():
    program = (
        "import threading\n"
        "from TraceLens.TreePerf import _builtin\n"
        "ready, failed = threading.Barrier(4), []\n"
        "def ask():\n"
        "    ready.wait()\n"
        "    try:\n"
        "        _builtin.has_own_models()\n"
        "    except Exception as error:\n"
        "        failed.append(error)\n"
        "threads = [threading.Thread(target=ask) for _ in range(4)]\n"
        "[thread.start() for thread in threads]\n"
        "[thread.join() for thread in threads]\n"
        "assert not failed, failed\n")
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_list_of_the_programs_own_is_what_the_tree_is_built_of(data):
    tree = TreePerfAnalyzer.from_file(data / "h200_streams_overlap.json.gz").tree
    kept = [event for event in tree.events if event["cat"] != "gpu_memcpy"]
    assert len(kept) < len(tree.events)
    tree.events = kept
    tree.build_tree()
    assert len(tree.events) == len(kept)
    assert not any(event["cat"] == "gpu_memcpy" for event in tree.events)


def test_a_file_without_gpu_events_has_no_timeline(tmp_path):
    path = write_trace(tmp_path / "t.json.gz", [op("aten::mm", 1, 2)])
    with pytest.raises(ValueError, match="No GPU events found in the trace"):
        TreePerfAnalyzer.from_file(path).get_df_gpu_timeline()


def test_results_are_left_on_the_events_of_files_and_of_lists_alike(data):
    path = data / "h200_streams_overlap.json.gz"
    of_file = TreePerfAnalyzer.from_file(path)
    of_list = TreePerfAnalyzer(TraceToTree(DataLoader.load_data(path)["traceEvents"]))
    for method in ("get_df_kernel_launchers", "get_df_kernels", "build_df_unified_perf_table"):
        for analyzer in (of_file, of_list):
            getattr(analyzer, method)()
    product = next(event for event in of_list.tree.events if event["name"] == "aten::mm" and "_call_stack" in event)
    assert "gpu_op_uid" in product["kernel_details"][0] and product["kernel_count"] > 0
    assert [dict(event) for event in of_file.tree.events] == of_list.tree.events


def test_a_cut_file_is_read_with_a_warning(tmp_path):
    text = json.dumps({"traceEvents": training_step()})
    path = tmp_path / "cut.json"
    path.write_text(text[: len(text) // 2])
    with pytest.warns(UserWarning, match="cut.json: .*ends"):
        assert TreePerfAnalyzer.from_file(path).tree.events
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TreePerfAnalyzer.from_file(write_trace(tmp_path / "whole.json.gz", training_step()))


@pytest.mark.parametrize("read", [TreePerfAnalyzer.from_file, lambda path: TraceFuse([path])])
def test_errors_of_reading_are_pythons_and_ours(tmp_path, read):
    bad, other = tmp_path / "bad.json", tmp_path / "other.json"
    bad.write_text("{nope")
    other.write_text('{"a": 1}')
    for path, python, ours in ((tmp_path / "none.json", FileNotFoundError, tl.FileError),
                               (bad, json.JSONDecodeError, tl.ReadError), (other, KeyError, tl.ReadError)):
        with pytest.raises(python) as caught:
            read(str(path))
        assert isinstance(caught.value, ours) and str(caught.value).startswith(f"{path}: ")
        again = pickle.loads(pickle.dumps(caught.value))
        assert type(again) is type(caught.value) and str(again) == str(caught.value)


def test_a_missing_rank_is_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        NcclAnalyser([str(tmp_path / "none.json")], 1)
    assert isinstance(caught.value, tl.FileError) and caught.value.filename.endswith("none.json")


def test_metadata_of_an_unknown_name_is_refused():
    with pytest.raises(KeyError, match="weird"):
        TraceToTree([{"ph": "M", "name": "weird", "pid": 1, "tid": 1, "args": {"name": "x"}}])


@pytest.mark.parametrize("verbose", ["", "0", "1"])
def test_stdout_is_quiet_unless_asked(tmp_path, capsys, monkeypatch, verbose):
    from TraceLens.Reporting.generate_perf_report_pytorch import generate_perf_report_pytorch

    monkeypatch.setenv("TRACELENS_VERBOSE", verbose)
    path = write_trace(tmp_path / "t.json.gz", training_step())
    generate_perf_report_pytorch(path, output_csvs_dir=str(tmp_path / "csvs"))
    said = capsys.readouterr().out
    assert "written to" in said if verbose == "1" else said == ""
    TraceFuse([path]).merge_and_save(str(tmp_path / "merged.json"))
    assert capsys.readouterr().out == f"Processing file: {path}\n"  # always: programs count these lines
