#!/usr/bin/env python3
"""Checks the answers of `tracelens query` to questions whose answers are known, on traces and on their
.db files, which must give the same rows.

    tools/check_query.py TRACELENS tests/data [--shared ../shared]

Traces of the checkout are always asked; those of the folder `shared` beside it where it is there.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from clean_environment import clean_environment

IDLE = """WITH e AS (SELECT ts, ts+dur AS te FROM gpu_event WHERE launch_id IS NOT NULL),
m AS (SELECT ts, max(te) OVER (ORDER BY ts, te ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS pe FROM e)
SELECT count(*), sum(ts-pe)/1e6, max(ts-pe)/1e6 FROM m WHERE ts > pe"""

# Trace -> [(statement, rows)]. A text that ends in ... is the start of the cell; None is any cell.
QUESTIONS = {
    "h200_gpt_train_amp": [
        ("SELECT type, time_ms, percent FROM gpu_timeline WHERE type IN ('busy_time','idle_time','total_time')",
         [["busy_time", 23.219182, 21.2434], ["idle_time", 86.081484, 78.7566], ["total_time", 109.300666, 100]]),
        ("SELECT name, count(*) AS n, sum(dur)/1e3 AS us FROM kernel GROUP BY name ORDER BY us DESC LIMIT 3",
         [["nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_NNT", 38, 1532.789],
          ["cudnn_generated...", 12, 1451.479], [None, 126, 1341.286]]),
        ("SELECT parent_cpu_op, kernel_duration_us_sum FROM kernel_summary ORDER BY 2 DESC LIMIT 3",
         [["aten::mm", 1532.789], ["aten::_cudnn_attention_backward", 1451.479], ["aten::copy_", 1341.286]]),
        ('SELECT "Parent cpu_op", "Kernel duration (µs)_sum" FROM kernel_summary ORDER BY 2 DESC LIMIT 1',
         [["aten::mm", 1532.789]]),
        ("SELECT op, count(*) AS gpu_events, sum(dur)/1e3 AS us FROM gpu_event GROUP BY op ORDER BY us DESC LIMIT 3",
         [["aten::mm", 116, 4952.673], ["aten::copy_", 288, 2945.598], ["aten::addmm", 72, 2064.120]]),
        (IDLE, [[2125, 86.081484, 1.911927]]),
        ("SELECT count(*), sum(dur)/1e3 FROM kernel WHERE dur < 10000", [[1490, 4089.137]]),
        ("SELECT s.step, count(*), sum(l.gpu_dur)/1e6 FROM launch l JOIN step s ON l.call_ts >= s.ts AND "
         "l.call_ts < s.ts + s.dur GROUP BY 1",
         [["ProfilerStep#1", 1063, 11.611748], ["ProfilerStep#2", 1063, 11.607434]]),
        ("SELECT call, count(*), avg(latency)/1e3, max(latency)/1e3 FROM launch GROUP BY call ORDER BY 2 DESC",
         [["cudaLaunchKernel", 1798, 11.964901, 338.221], ["cuLaunchKernelEx", 198, 20.043939, 118.911],
          ["cudaMemsetAsync", 130, 14.407662, 44.315]]),
        ("SELECT name, input_dims, operation_count, kernel_time_us_sum, tflops_per_s_mean FROM unified_perf_summary "
         "WHERE op_category = 'GEMM' ORDER BY kernel_time_us_sum DESC LIMIT 2",
         [["aten::mm", "[[3072, 8192], [8192, 768]]", 12, 697.212, 665.974318],
          ["aten::addmm", "[[3072], [8192, 768], [768, 3072], [], []]", 12, 689.855, 672.858363]]),
        ("SELECT op_category, count, percentage_pct FROM ops_summary_by_category LIMIT 3",
         [["elementwise", 1602, 36.126815], ["GEMM", 150, 30.219811], ["other", 52, 18.504864]]),
        ("SELECT id, dur/1e3, op FROM kernel ORDER BY dur DESC LIMIT 1", [[14956, 221.727, "aten::_log_softmax"]]),
        ("SELECT name FROM ancestor_slice((SELECT launch_id FROM gpu_event WHERE id = 14956)) "
         "WHERE name IN ('aten::log_softmax', 'aten::cross_entropy_loss', 'nn.Module: GPT_0', '## forward ##', "
         "'ProfilerStep#1') ORDER BY depth DESC",
         [["aten::log_softmax"], ["aten::log_softmax"], ["aten::cross_entropy_loss"], ["nn.Module: GPT_0"], ["## forward ##"],
          ["ProfilerStep#1"]]),
        ("SELECT thread.name AS thread_name, count(*) FROM slice JOIN thread_track ON slice.track_id = thread_track.id "
         "JOIN thread USING(utid) WHERE slice.name = 'aten::mm' GROUP BY thread_name",
         [["thread 497 (python3)", 2], ["thread 522 (python3)", 100]]),
        ("SELECT count(*) FROM slice WHERE category = 'kernel' AND extract_arg(arg_set_id, 'args.stream') = 7", [[1996]]),
        ("SELECT category, count(*) FROM slice GROUP BY category ORDER BY 2 DESC LIMIT 4",
         [["cpu_op", 7476], ["python_function", 5900], ["cuda_runtime", 2083], ["kernel", 1996]]),
        # As Perfetto's pages and people's scripts write them.
        ("INCLUDE PERFETTO MODULE slices.with_context; SELECT ts, dur, name, thread_name, tid FROM thread_slice "
         "WHERE name = 'aten::mm' ORDER BY ts, dur LIMIT 1", [[None, None, "aten::mm", None, None]]),
        ("SELECT ts, dur, name FROM slice ORDER BY dur DESC LIMIT 1", [[None, None, None]]),
        ("SELECT name, count(dur) AS count_slice, AVG(dur) / 1e6 AS avg_dur_ms, MAX(dur) / 1e6 AS max_dur_ms FROM slice "
         "WHERE name LIKE 'aten::add%' GROUP BY name ORDER BY avg_dur_ms DESC LIMIT 1", [[None, None, None, None]]),
        ("SELECT count(*) FROM slice s JOIN args USING (arg_set_id) WHERE s.category = 'kernel' AND "
         "args.key = 'args.grid[0]'", [[1996]]),
        ("SELECT count(*), sum(id), sum(coalesce(int_value, 0)), count(string_value), sum(length(key)) FROM args",
         [[None] * 5]),
        ("CREATE PERFETTO TABLE device AS SELECT * FROM slice WHERE category IN ('kernel', 'gpu_memcpy', 'gpu_memset'); "
         "SELECT count(*), count(slice_out) FROM device LEFT JOIN flow ON device.id = flow.slice_in", [[2126, 2126]]),
        ("SELECT name FROM ancestor_slice((SELECT launch_id FROM gpu_event WHERE id = 14956)) WHERE category = 'cpu_op' "
         "ORDER BY depth DESC LIMIT 1", [["aten::_log_softmax"]]),
        ("SELECT format, gpu FROM trace_info", [["kineto", "NVIDIA H200"]]),
        ("SELECT place, finding, severity FROM findings ORDER BY 1 LIMIT 2",
         [[1, "OPT-1", "critical"], [2, "HOST-1", "critical"]]),
        ("SELECT count(*) > 5 FROM finding_evidence", [[1]]),
        # Our own tables.
        ("SELECT count(*), sum(dur)/1e6 FROM gpu_gap", [[2125, 86.081484]]),
        ("SELECT step, gpu_ns/1e6 FROM step ORDER BY 1", [["ProfilerStep#1", 11.611748], ["ProfilerStep#2", 11.607434]]),
        ("SELECT sum(direct_ns)/1e6, count(*), sum(gpu_events) FROM op", [[None, None, None]]),
        ("SELECT count(*), max(depth), sum(gpu_count) FROM tree", [[None, None, None]]),
        ("SELECT kind, count(*) FROM tree GROUP BY kind ORDER BY 1", None),
        ("SELECT count(*) FROM subtree((SELECT node FROM tree WHERE kind = 'module' AND name = 'nn.Module: GPT_0' "
         "ORDER BY node LIMIT 1))", [[None]]),
        ("SELECT path_of(node) FROM tree WHERE event_id = 14956", None),
        ("SELECT type, count(*), sum(gpu_ns) FROM module GROUP BY type ORDER BY 1", None),
        ("SELECT id, name, input_dims, calls, gflops, bytes FROM signature ORDER BY id", None),
        ("SELECT module, step, op_category, category, count(*), sum(dur) FROM gpu_event GROUP BY 1, 2, 3, 4 "
         "ORDER BY 1, 2, 3, 4", None),
        ("SELECT * FROM gpu_event ORDER BY id LIMIT 50", None),
        ("SELECT * FROM op ORDER BY id LIMIT 50", None),
        ("SELECT * FROM slice ORDER BY id LIMIT 200", None),
        ("SELECT * FROM event ORDER BY id LIMIT 200", None),
        ("SELECT * FROM tree ORDER BY node LIMIT 200", None),
        ("SELECT * FROM launch ORDER BY gpu_id LIMIT 50", None),
        ("SELECT * FROM flow ORDER BY id LIMIT 200", None),
        ("SELECT * FROM thread ORDER BY utid", None),
        ("SELECT * FROM process ORDER BY upid", None),
        ("SELECT * FROM memory ORDER BY event_id LIMIT 50", None),
        ("SELECT * FROM args WHERE arg_set_id = 14956 ORDER BY id", None),
        ("SELECT count(*), sum(length(text)) FROM string", None),
        ("SELECT count(*) FROM descendant_slice((SELECT id FROM slice WHERE name = 'ProfilerStep#1' LIMIT 1))", None),
        ("SELECT percentile(dur, 90), median(dur), ms(max(dur)), trace_dur() FROM kernel", None),
        ("SELECT count(*) FROM kernel WHERE name REGEXP 'nvjet.*'", None),
    ],
    "h200_cuda_graph_decode": [
        ("SELECT call_id, count(*), sum(gpu_dur)/1e3 FROM launch WHERE call = 'cudaGraphLaunch' GROUP BY call_id",
         [[None, 50, us] for us in (276.256, 275.777, 275.292, 277.855, 275.544)]),
    ],
    "h200_streams_overlap": [
        ("SELECT name, count(*), sum(bytes)/1e6, sum(bytes)*1.0/sum(dur) AS gb_per_s FROM gpu_event WHERE kind = 'memcpy' "
         "GROUP BY name ORDER BY name",
         [["Memcpy DtoH...", 3, 201.326592, 55.349632], ["Memcpy HtoD...", 3, 201.326592, 55.363757]]),
    ],
    "mi300_qwen": [
        (IDLE, [[1053, 3.387396, 0.484955]]),
        ("SELECT launch_id IS NULL AS unlinked, count(*), sum(dur)/1e6 FROM gpu_event GROUP BY 1",
         [[0, 1054, 29.743938], [1, 463, 13.318864]]),
    ],
    "h100_qwen": [
        ("SELECT max(allocated), max(reserved), count(*) FILTER (WHERE bytes > 0) FROM memory WHERE device_type <> 0",
         [[2088508416, 2629828608, 1125]]),
    ],
    "multirank8/full": [
        ("SELECT rank, times_arrived_last, pct_arrived_last FROM straggler_summary ORDER BY 2 DESC LIMIT 2",
         [[5, 33, 84.6], [2, 6, 15.4]]),
        ("SELECT collective_name, count, total_comm_latency_ms, bus_bw_gb_per_s_mean FROM nccl_summary_implicit_sync "
         "ORDER BY 3 DESC LIMIT 1", [["_reduce_scatter_base", 3, 4.154824, 154.586877]]),
    ],
}


def is_cell(cell, wanted):
    if wanted is None:
        return True
    if isinstance(wanted, str):
        return cell == wanted or (wanted.endswith("...") and str(cell).startswith(wanted[:-3]))
    if not isinstance(cell, (int, float)):
        return False
    # As many digits as the answers have, half a unit of the last one and its rounding.
    return abs(cell - wanted) <= max(abs(wanted) * 2e-6, 6e-7) or round(cell, 1) == wanted


def is_row(row, wanted):
    return len(row) == len(wanted) and all(map(is_cell, row, wanted))


def ask(tracelens, source, statements, folder):
    """The rows of each statement, asked in one run."""
    text = folder / "statements.sql"
    text.write_text(";\n".join(statements) + ";\n", encoding="utf-8")
    done = subprocess.run([tracelens, "query", source, "-f", text, "--format", "json", "--categories", "reference"],
                          capture_output=True, text=True)
    if done.returncode != 0:
        return None, done.stderr
    decoder, results, at = json.JSONDecoder(), [], 0
    while at < len(done.stdout):
        result, at = decoder.raw_decode(done.stdout, at)
        results.append(result["rows"])
        while at < len(done.stdout) and done.stdout[at].isspace():
            at += 1
    return results, ""


def find(name, folders):
    for folder in folders:
        for path in (folder / name, folder / f"{name}.json.gz"):
            if path.exists():
                return path
    return None


def main():
    clean_environment()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tracelens")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--shared", type=pathlib.Path)
    options = parser.parse_args()
    folders = [options.data]
    if options.shared:
        folders += [options.shared, options.shared / "traces"]
    failures = asked = 0
    with tempfile.TemporaryDirectory() as made:
        made = pathlib.Path(made)
        for name, questions in QUESTIONS.items():
            trace = find(name, folders)
            if trace is None:
                continue
            statements = [statement for statement, _ in questions]
            database = made / "report.db"
            sources = [trace]
            if not trace.is_dir():  # `collectives` writes our own edition alone
                subprocess.run([options.tracelens, "report", trace, "-o", database, "--quiet", "--categories",
                                "reference"], check=True)
                sources.append(database)
            answers = {}
            for source in sources:
                answers[source], error = ask(options.tracelens, source, statements, made)
                if answers[source] is None:
                    print(f"{source.name}: {error}")
                    failures += 1
                    continue
                for (statement, wanted), rows in zip(questions, answers[source]):
                    asked += 1
                    if wanted is not None and not (len(rows) == len(wanted) and all(map(is_row, rows, wanted))):
                        print(f"{name} ({source.name}): {statement}\n  expected {wanted}\n  found    {rows}")
                        failures += 1
            if len(answers) == 2 and all(rows is not None for rows in answers.values()):
                for (statement, _), first, second in zip(questions, *answers.values()):
                    if first != second:
                        at = next((i for i, (a, b) in enumerate(zip(first, second)) if a != b), 0)
                        print(f"{name}: the file answers otherwise: {statement}\n  trace {len(first)} rows: "
                              f"{first[at:at + 1]}\n  file  {len(second)} rows: {second[at:at + 1]}")
                        failures += 1
    print(f"{asked} answers, {failures} wrong")
    return 1 if failures or not asked else 0


if __name__ == "__main__":
    sys.exit(main())
