"""SQL over a trace: kinds of columns, errors with their place, limits, threads, Ctrl-C."""

import os
import pickle
import signal
import threading

import numpy as np
import pytest

import tracelens as tl

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


@pytest.fixture(scope="module")
def demo():
    return tl.demo()


def test_counts_what_the_columns_have(demo):
    kernels = demo.events.where(cat="kernel")
    got = demo.query("SELECT count(*) AS n, sum(dur) AS ns FROM kernel")
    assert got.cells("n") == [len(kernels)]
    assert got.cells("ns") == [int(demo.events["dur_ns"][kernels].sum())]


def test_a_column_is_of_the_kind_of_its_cells(demo):
    table = demo.query("SELECT 1 AS whole, 1.5 AS real, 'a' AS text, NULL AS none, 1 AS mixed "
                       "UNION ALL SELECT 2, 2, NULL, NULL, 'b'")
    assert [(column.name, column.kind) for column in table.columns] == [
        ("whole", "integer"), ("real", "real"), ("text", "text"), ("none", "text"), ("mixed", "nested")]
    assert table["whole"].dtype == np.int64 and table.cells("real") == [1.5, 2.0]
    assert table.cells("text") == ["a", None] and table.cells("mixed") == [1, "b"]
    assert list(table.to_pandas().columns) == ["whole", "real", "text", "none", "mixed"]


def test_the_last_statement_with_rows_counts_and_temporary_tables_stay(demo):
    got = demo.query("CREATE TEMP TABLE mine AS SELECT 7 AS x; SELECT 1 AS a; SELECT x FROM mine;"
                     "CREATE TEMP TABLE other AS SELECT 1")
    assert got.cells("x") == [7]
    assert demo.query("SELECT x + 1 AS y FROM mine").cells("y") == [8]


def test_tables_of_the_report_are_tables(demo):
    got = demo.query("SELECT type, time_ms FROM gpu_timeline")
    assert got.cells("type") == tl.report(demo)["gpu_timeline"].cells("type")


def test_no_rows_are_a_table_with_columns(demo):
    empty = demo.query("SELECT name, dur FROM kernel WHERE 0")
    assert len(empty) == 0 and [column.name for column in empty.columns] == ["name", "dur"]
    assert len(demo.query("CREATE TEMP TABLE t1x AS SELECT 1").columns) == 0


def test_values_for_names(demo):
    got = demo.query("SELECT :a AS a, :b AS b, :c AS c", params={"a": np.int64(3), "b": 0.5, "c": "x'y"})
    assert (got.cells("a"), got.cells("b"), got.cells("c")) == ([3], [0.5], ["x'y"])
    with pytest.raises(tl.UsageError, match="has no value"):
        demo.query("SELECT :missing")


@pytest.mark.parametrize("sql, words", [
    ("SELECT nam FROM kernel", "nam"),
    ("SELEC 1", "SELEC"),
    ("SELECT * FROM kernels_of_mine", "kernels_of_mine"),
    ("DELETE FROM kernel", ""),
    ("ATTACH '/etc/passwd' AS p", ""),
    ("SELECT load_extension('x')", ""),
    ("\0", ""),
    ("SELECT '" + "(" * 100_000, ""),
])
def test_a_wrong_statement_is_one_error_with_its_place(demo, sql, words):
    with pytest.raises(tl.UsageError, match=words):
        demo.query(sql)


@pytest.mark.parametrize("keywords", [
    {"timeout_s": -1}, {"timeout_s": float("nan")}, {"timeout_s": "1"}, {"memory_mb": 0},
    {"params": {"a": None}}, {"params": {"a": 2**70}}])
def test_values_that_mean_nothing_are_refused(demo, keywords):
    with pytest.raises(tl.UsageError):
        demo.query("SELECT 1", **keywords)
    with pytest.raises(tl.UsageError):
        demo.query(b"SELECT 1")


def test_a_statement_ends_when_its_time_is_up(demo):
    with pytest.raises(tl.UsageError, match="stopped after 0.2 seconds"):
        demo.query(ENDLESS, timeout_s=0.2)
    assert demo.query("SELECT 1 AS one").cells("one") == [1]


def test_ctrl_c_ends_a_statement(demo):
    with pytest.raises(KeyboardInterrupt):
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        demo.query(ENDLESS, timeout_s=600)
    assert demo.query("SELECT 1 AS one").cells("one") == [1]


def test_threads_wait_for_each_other(demo):
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(
        demo.query("SELECT count(*) AS n FROM slice").cells("n"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 8 and len({tuple(each) for each in answers}) == 1


def test_columns_that_share_a_name_are_numbered(demo):
    table = demo.query("SELECT a.name, b.name, a.name AS name_2 FROM op a JOIN op b ON b.parent_op = a.id "
                       "WHERE a.name = 'aten::linear' LIMIT 1")
    assert [column.name for column in table.columns] == ["name", "name_2", "name_2_2"]
    ((linear, below, again),) = list(table)
    assert linear == again == "aten::linear" and below != linear
    assert pickle.loads(pickle.dumps(table)) == table and table.cells("name_2") == [below]


def test_seconds_of_numpy(demo):
    assert demo.query("SELECT 1 AS n", timeout_s=np.int64(2)).cells("n") == [1]
    with pytest.raises(tl.UsageError, match="timeout_s"):
        demo.query("SELECT 1", timeout_s=np.float64("inf"))
