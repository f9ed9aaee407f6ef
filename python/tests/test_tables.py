import csv
import html.parser
import io
import pickle

import numpy as np
import pandas as pd
import pytest

import arrow_reader
import tracelens as tl

C = tl.Column


@pytest.fixture
def table():
    return tl.table_of_rows(
        "ops",
        [C("name", "text"), C("time", "real", "ms", "how long"), C("calls", "integer"),
         C("new", "bool"), C("dims", "nested")],
        [("mm", 2.5, 3, True, ((8, 4), ())), ("<b>add</b>", None, None, None, None),
         ("mm", 1.0, 5, False, {"a": [1, None, "x"]})],
        "Ops",
    )


def test_columns_say_what_they_are(table):
    assert [tuple(c) for c in table.columns][1] == ("time", "real", "ms", "how long")
    assert (table.name, table.description, len(table)) == ("ops", "Ops", 3)
    assert "time" in table and "colour" not in table
    with pytest.raises(KeyError):
        table["colour"]


def test_a_column_is_an_array(table):
    assert np.isnan(table["time"][1]) and table["time"][2] == 1.0
    assert table["calls"].mask.tolist() == [False, True, False]
    assert table["new"][0] is np.ma.masked or bool(table["new"][0]) is True
    assert table["dims"][0] == ((8, 4), ()) and table["dims"][1] is None
    assert table["name"].tolist() == ["mm", "<b>add</b>", "mm"]
    assert table["name"][0] is table["name"][2] or table["name"][0] == table["name"][2]


def test_rows_are_named_tuples(table):
    rows = list(table)
    assert rows[0].name == "mm" and rows[1].time is None and rows[2].calls == 5


def test_other_tables_are_new_ones(table):
    assert table.sort("time").cells("time") == [1.0, 2.5, None]
    assert table.sort(["name", "time"], descending=[False, True]).cells("time") == [None, 2.5, 1.0]
    assert table.head(1).cells("name") == ["mm"] and len(table.head(99)) == 3
    assert table.where(name="mm").cells("calls") == [3, 5]
    assert table.where(calls=[5, 7]).cells("calls") == [5]
    assert table.where(lambda row: row.time is None).cells("name") == ["<b>add</b>"]
    assert table.where(table["time"] > 2).cells("time") == [2.5]
    assert len(table) == 3
    for wrong in (lambda: table.sort("colour"), lambda: table.where([True]),
                  lambda: table.sort("time", descending=[True, False])):
        with pytest.raises(tl.UsageError):
            wrong()


def test_a_frame_has_the_types_pandas_finds(table):
    frame = table.to_pandas()
    by_pandas = pd.DataFrame({"time": [2.5, None, 1.0], "calls": [3, None, 5]})
    assert frame[["time", "calls"]].equals(by_pandas)
    assert frame["new"].tolist() == [True, None, False] and frame["new"].dtype == object
    assert frame["dims"][2] == {"a": [1, None, "x"]}
    assert frame.attrs["units"] == {"time": "ms"}
    assert str(table.to_pandas(nullable=True)["calls"].dtype) == "Int64"
    frame.loc[0, "time"] = 7  # a frame may be written into
    assert table["time"][0] == 2.5


def test_a_column_without_a_single_value_is_of_type_object_if_asked():
    from tracelens._frames import frame

    none = tl.table_of_rows("t", [C("n", "integer"), C("x", "real")], [(None, None)])._native
    assert frame(none).dtypes.astype(str).tolist() == ["float64", "float64"]
    objects = frame(none, none_is_object=True)
    assert objects.dtypes.astype(str).tolist() == ["object", "object"]
    assert objects["n"][0] is None


def test_equal_cells_are_one_object(report):
    """Grouping frames by identity relies on it."""
    names = report["kernel_summary"]["Parent cpu_op"] if "Parent cpu_op" in report["kernel_summary"] \
        else report["ops_unique_args"]["name"]
    first = {}
    for name in names:
        assert first.setdefault(name, name) is name


def test_csv_reads_back(table, tmp_path):
    rows = list(csv.reader(io.StringIO(table.to_csv())))
    assert rows[0] == ["name", "time", "calls", "new", "dims"] and rows[2] == ["<b>add</b>"] + [""] * 4
    assert table.to_csv(tmp_path / "t.csv") is None
    assert list(csv.reader(open(tmp_path / "t.csv"))) == rows


def test_html_is_escaped_and_says_what_is_left_out(table):
    class Tags(html.parser.HTMLParser):
        seen = set()

        def handle_starttag(self, tag, attributes):
            self.seen.add(tag)

    text = table._repr_html_()
    Tags().feed(text)
    assert Tags.seen <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "br", "span", "div"}
    assert "&lt;b&gt;add" in text and "text-align:right" in text and 'title="how long"' in text
    long = tl.table_of_rows("t", [C("n", "integer")], [(i,) for i in range(25)])
    assert "5 rows more" in long._repr_html_() and "rows more" not in long.head(20)._repr_html_()


def test_repr_is_the_terminal_form(table):
    assert repr(table).splitlines()[0].startswith("ops")


def test_pickled_by_value(table, report):
    assert pickle.loads(pickle.dumps(table)) == table
    again = pickle.loads(pickle.dumps(report))
    assert list(again) == list(report) and again.gpu == report.gpu
    for name in report:
        assert again[name] == report[name]
        assert again[name].to_pandas().equals(report[name].to_pandas())


def test_arrow_has_the_same_cells(table):
    about, columns, batches = arrow_reader.read(table)
    assert {name: form for name, (form, _) in about.items()} == {
        "name": "U", "time": "g", "calls": "l", "new": "b", "dims": "U"}
    assert about["time"][1] == {"unit": "ms", "description": "how long"}
    assert columns["time"] == [2.5, None, 1.0] and columns["calls"] == [3, None, 5]
    assert columns["new"] == [True, None, False] and columns["name"][1] == "<b>add</b>"
    assert columns["dims"] == ["[[8, 4], []]", None, '{"a": [1, null, "x"]}']
    assert batches == 1 and arrow_reader.read(table.head(0))[2] == 0


def test_wrong_cells_are_refused():
    for kind, cell in (("integer", "x"), ("text", 7), ("real", "x"), ("nested", object())):
        with pytest.raises((TypeError, tl.UsageError)):
            tl.table_of_rows("t", [C("c", kind)], [(cell,)])
    with pytest.raises(tl.UsageError, match="cells"):
        tl.table_of_rows("t", [C("c", "text")], [("a", "b")])
    with pytest.raises(tl.UsageError, match="kind of column"):
        tl.table_of_rows("t", [C("c", "colour")], [])
    deep = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(TypeError, match="deeply"):
        tl.table_of_rows("t", [C("c", "nested")], [(deep,)])


def test_odd_texts_survive():
    odd = tl.table_of_rows("t", [C("c", "text")], [("\ud800",), ("a\0b",), ("é",)])
    assert odd.cells("c") == ["?", "a\0b", "é"]


def test_a_table_tells_columns_of_one_name_apart():
    columns = [tl.Column("x", "integer"), tl.Column("x", "integer")]
    twins = tl.table_of_rows("twins", columns, [(1, 2)])
    assert list(twins) == [(1, 2)]
    assert list(pickle.loads(pickle.dumps(twins))) == [(1, 2)]
