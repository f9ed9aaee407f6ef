"""GPU time by op of many traces, on a Ray cluster:  python ray_fleet.py '/shared/runs/**/*.json.gz'

Ray ships functions to machines and Arrow tables between them; a table of ours is an Arrow stream. That is
all the two know of each other. A worker that dies is replaced and its trace read again (`max_retries`);
what is no trace comes back as a sentence.
"""
import sys

import pyarrow as pa
import ray
from tracelens import fleet


@ray.remote(max_retries=3)
def ops_of(path):
    import tracelens as tl

    try:
        report = tl.report(tl.read(path, threads=1), tables=["ops_summary"], threads=1)
    except tl.Error as error:
        return str(error)
    table = pa.table(report["ops_summary"])  # through __arrow_c_stream__
    return table.add_column(0, "trace", pa.array([path] * len(table)))


def main(patterns):
    waiting, running, tables = fleet.find_traces(patterns), [], []
    while waiting or running:
        while waiting and len(running) < 64:  # as many in flight as the cluster keeps busy, and no more
            running.append(ops_of.remote(waiting.pop()))
        done, running = ray.wait(running)
        result = ray.get(done[0])
        if isinstance(result, str):
            print(result, file=sys.stderr)
        else:
            tables.append(result)
    return pa.concat_tables(tables)


if __name__ == "__main__":
    print(main(sys.argv[1:]).to_pandas())
