"""examples/fleet runs against stand-ins of Ray, Spark and pyarrow that check how they are called.

The engines are not in Debian. A table reaches them through ``__arrow_c_stream__`` alone: the stand-in of pyarrow
takes nothing else.
"""

import importlib.util
import pathlib
import sys
import types

import pandas as pd
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
TRACES = [str(DATA / "h200_pair_base.json.gz"), str(DATA / "h200_pair_math.json.gz")]


class ArrowTable:
    def __init__(self, frame):
        self.frame = frame

    def __len__(self):
        return len(self.frame)

    def add_column(self, place, name, values):
        frame = self.frame.copy()
        frame.insert(place, name, values)
        return ArrowTable(frame)

    def append_column(self, name, values):
        return self.add_column(len(self.frame.columns), name, values)

    def cast(self, schema):
        assert list(self.frame.columns) == [name for name, _ in schema]
        return self

    def to_batches(self):
        return [self]

    def to_pandas(self):
        return self.frame

    def column(self, name):
        return types.SimpleNamespace(to_pylist=lambda: list(self.frame[name]))

    @classmethod
    def from_pylist(cls, rows, schema):
        return cls(pd.DataFrame(rows, columns=[name for name, _ in schema]))


def table_of(stream):
    capsule = stream.__arrow_c_stream__()
    assert type(capsule).__name__ == "PyCapsule" and "arrow_array_stream" in repr(capsule)
    return ArrowTable(stream.to_pandas())


@pytest.fixture
def engines(monkeypatch):
    pyarrow = types.ModuleType("pyarrow")
    pyarrow.Table, pyarrow.table, pyarrow.schema = ArrowTable, table_of, list
    pyarrow.array, pyarrow.nulls = list, lambda count, kind: [None] * count
    pyarrow.string = pyarrow.float64 = lambda: None
    pyarrow.concat_tables = lambda tables: ArrowTable(pd.concat([table.frame for table in tables]))

    ray = types.ModuleType("ray")
    ray.remote = lambda **options: lambda function: types.SimpleNamespace(
        remote=lambda *arguments: (function, arguments))
    ray.wait = lambda running: (running[:1], running[1:])
    ray.get = lambda task: task[0](*task[1])

    class Frame:
        def __init__(self, rows):
            self.rows = rows

        def repartition(self, count):
            assert count == len(self.rows)
            return self

        def mapInArrow(self, function, columns):
            batches = (ArrowTable(pd.DataFrame([row], columns=["trace"])) for row in self.rows)
            return pd.concat([batch.frame for batch in function(batches)])

    session = types.SimpleNamespace(createDataFrame=lambda rows, columns: Frame(rows))
    sql = types.ModuleType("pyspark.sql")
    sql.SparkSession = types.SimpleNamespace(builder=types.SimpleNamespace(getOrCreate=lambda: session))
    for name, module in (("pyarrow", pyarrow), ("ray", ray), ("pyspark", types.ModuleType("pyspark")),
                         ("pyspark.sql", sql)):
        monkeypatch.setitem(sys.modules, name, module)


def example(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / "fleet" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_ray(engines, capsys):
    frame = example("ray_fleet").main([*TRACES, str(DATA / "sum_ops.py")]).to_pandas()
    assert set(frame["trace"]) == set(TRACES) and "aten::mm" in set(frame["name"])
    assert "sum_ops.py: not a trace" in capsys.readouterr().err


def test_spark(engines):
    frame = example("spark_fleet").main([*TRACES, str(DATA / "sum_ops.py")])
    assert set(frame[frame["error"].isna()]["trace"]) == set(TRACES)
    assert list(frame["error"].dropna()) and "not a trace" in list(frame["error"].dropna())[0]
