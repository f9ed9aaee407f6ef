"""The GPU timeline of many traces, on Spark:  spark-submit spark_fleet.py '/shared/runs/**/*.json.gz'

`mapInArrow` hands a function batches of rows and takes batches back; a table of ours is an Arrow stream.
Spark runs a task again whose executor was lost (`spark.task.maxFailures`); what is no trace becomes a row
with its sentence in `error`.
"""
import sys

import pyarrow as pa
from pyspark.sql import SparkSession
from tracelens import fleet

SCHEMA = pa.schema([("trace", pa.string()), ("type", pa.string()), ("time ms", pa.float64()),
                    ("percent", pa.float64()), ("error", pa.string())])


def timelines(batches):
    import tracelens as tl

    for batch in batches:
        for path in batch.column("trace").to_pylist():
            try:
                report = tl.report(tl.read(path, threads=1), tables=["gpu_timeline"], threads=1)
            except tl.Error as error:
                yield from pa.Table.from_pylist([{"trace": path, "error": str(error)}], SCHEMA).to_batches()
                continue
            table = pa.table(report["gpu_timeline"])  # through __arrow_c_stream__
            table = table.add_column(0, "trace", pa.array([path] * len(table)))
            table = table.append_column("error", pa.nulls(len(table), pa.string()))
            yield from table.cast(SCHEMA).to_batches()


def main(patterns):
    spark = SparkSession.builder.getOrCreate()
    traces = fleet.find_traces(patterns)
    paths = spark.createDataFrame([(path,) for path in traces], "trace string").repartition(len(traces))
    columns = "trace string, type string, `time ms` double, percent double, error string"
    return paths.mapInArrow(timelines, columns)


if __name__ == "__main__":
    main(sys.argv[1:]).show()
