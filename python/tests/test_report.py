import contextlib
import pathlib
import pickle
import sqlite3
import subprocess
import sys

import pytest

import tracelens as tl


def test_the_tables_are_those_of_the_command(data, report, tmp_path):
    """Same names, same cells: the package and the program are one core."""
    out = tmp_path / "csv"
    trace = str(data / "h200_gpt_train_amp.json.gz")
    assert tl.main(["-q", "report", trace, "-o", f"{out}/"]) == 0
    written = {path.stem: path.read_text() for path in out.glob("*.csv")}
    report.save(tmp_path / "mine")  # a path without an ending is a folder
    mine = {path.stem: path.read_text() for path in (tmp_path / "mine").glob("*.csv")}
    assert mine == written and set(written) >= {"gpu_timeline", "ops_summary", "kernel_summary"}


def test_keywords_are_the_options_of_the_report(demo):
    timeline = tl.report(demo, micro_idle_us=5, tables=["gpu_timeline"])["gpu_timeline"]
    assert {"micro_idle_time", "macro_idle_time"} <= set(timeline.cells("type"))
    few = tl.report(demo, without=["ops_summary"], also=["launch_stats"])
    assert "ops_summary" not in few and "launch_stats" in few
    assert len(tl.report(demo, top_ops=3)["ops_unique_args"]) == 3
    assert tl.report(demo, gpu="MI300X").gpu == "MI300X"
    reference = tl.report(demo, edition="reference")
    assert reference.edition == "reference" and "gpu_gap_summary" not in reference
    with pytest.raises(tl.UsageError):
        tl.report(demo, tables="gpu_timeline")  # a text is not a list of names


def test_every_option_of_the_core_is_a_keyword():
    """A new member of ReportOptions is a new keyword, or a reason is given here."""
    import inspect
    import re

    header = pathlib.Path(__file__).resolve().parents[2] / "include/tracelens/report.hpp"
    body = re.search(r"struct ReportOptions \{(.*?)\n\};", header.read_text(), re.S).group(1)
    body = re.sub(r"//.*", "", body)
    members = set(re.findall(r"(\w+)\s*=\s*(?:\{|[^;{]*;)", body))
    keywords = set(inspect.signature(tl.report).parameters) - {"trace"}
    not_from_python = {
        "more_tables",  # tl.table
        "stitching",  # what stitch_graphs() gives
    }
    assert members - not_from_python == keywords


def test_a_report_is_a_mapping_in_order(report):
    assert list(report)[0] == "gpu_timeline" and len(report) == len(list(report))
    assert report["ops_summary"].name == "ops_summary" and "none" not in report
    with pytest.raises(KeyError):
        report["none"]
    assert report.warnings == [] or all(isinstance(text, str) for text in report.warnings)
    assert "Host-bound" in repr(report)
    html = report._repr_html_()
    assert "<script" not in html and "gpu_timeline" in html


@pytest.mark.parametrize("name", ["r.xlsx", "r.html", "r.md", "r.json", "folder/"])
def test_saved_by_name(report, tmp_path, name):
    report.save(f"{tmp_path}/{name}")
    made = tmp_path / name
    assert made.is_dir() if name.endswith("/") else made.stat().st_size > 1000


def test_a_page_has_its_timeline_though_nobody_asked_for_it_before(report, tmp_path):
    report.save(tmp_path / "with.html")
    import pickle

    pickle.loads(pickle.dumps(report)).save(tmp_path / "tables_only.html")
    assert (tmp_path / "with.html").stat().st_size > (tmp_path / "tables_only.html").stat().st_size


def test_single_tables(demo, report):
    assert tl.timeline(demo) == report["gpu_timeline"]
    assert tl.ops(demo) == report["ops_summary"]
    assert tl.unique_ops(demo) == report["ops_unique_args"]
    assert tl.one_table(demo, "serving_steps") is None
    launchers = tl.launchers(demo)
    tree = demo.tree
    assert launchers["direct_kernel_count"].sum() == sum(root.gpu_count for root in tree.roots)
    assert len(tl.kernels(demo)) == len(tree.find(category="kernel"))
    assert abs(launchers["total_direct_kernel_time"].sum()
               - report["ops_summary"]["total_direct_kernel_time_sum"].sum()) < 1e-6
    assert len(tl.unified(demo)) > 0
    empty = tl.read(b'{"traceEvents":[]}')
    with pytest.raises(tl.UsageError):
        tl.ops(empty)


def test_an_empty_trace_has_a_report():
    empty = tl.read(b'{"traceEvents":[]}')
    for table in tl.report(empty).values():
        table.to_pandas()
    assert len(empty.tree) == 0 and list(empty.tree) == [] and empty.events.to_pandas().empty


def test_importing_is_quick_and_leaves_numpy_and_pandas_alone():
    program = "import sys, tracelens; print([m for m in ('numpy', 'pandas') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


def test_a_database_has_the_events_while_the_report_knows_its_trace(demo, tmp_path):
    report = tl.report(demo, tables=["gpu_timeline"])
    report.save(tmp_path / "whole.db")
    pickle.loads(pickle.dumps(report)).save(tmp_path / "tables.db")
    with contextlib.closing(sqlite3.connect(tmp_path / "whole.db")) as whole:
        assert whole.execute("SELECT count(*) FROM kernel").fetchone() == (len(demo.events.where(cat="kernel")),)
        assert whole.execute("SELECT count(*) FROM gpu_timeline").fetchone() == (len(report["gpu_timeline"]),)
    with contextlib.closing(sqlite3.connect(tmp_path / "tables.db")) as tables:
        with pytest.raises(sqlite3.OperationalError, match="no such table"):
            tables.execute("SELECT count(*) FROM kernel")
