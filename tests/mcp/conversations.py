"""Questions that agents ask, the calls they lead to, and the facts that must be in the answers. A function is
a conversation; what it needs besides the traces of the checkout stands in SHARED."""
import csv
import io
import json
import os
import pathlib
import subprocess
import sys

from client import text_of
from facts import expect, is_near, row_with, rows, says, sentence_of_error, tokens

A = "h200_gpt_train_amp.json.gz"
GRAPH = "h200_cuda_graph_decode.json.gz"
STREAMS = "h200_streams_overlap.json.gz"
ZOO = "h200_ops_zoo.json.gz"
BASE, AGAIN = "h200_pair_base.json.gz", "h200_pair_again.json.gz"
STUB = pathlib.Path(__file__).resolve().parents[1] / "replay" / "stub"  # of PyTorch
REFERENCE = {"categories": "reference"}
# Conversations about traces that are not in the checkout.
SHARED = {"communication_hidden", "other_gpu_same_model", "slow_rank", "memory_at_peak", "no_shapes"}


def why_is_my_step_slow(server, _):
    result = server.call("summary", trace=A)
    structure = result["structuredContent"]
    expect([row_with(result, type="total_time")["time_ms"], row_with(result, type="busy_time")["percent"],
            row_with(result, type="idle_time")["percent"]], 109.300666, 21.24340395, 78.75659605)
    assert structure["steps"] == 2 and "H200" in structure["gpu"], structure
    assert structure["bound"] == "host" and "idle" in structure["verdict"], structure
    says(result, 109.300666, 21.2434, 78.7566)
    found = server.call("diagnose", trace=A)
    first = rows(found)[0]
    assert first["tier"] == "system" and first["evidence"][0]["table"], first
    assert any(row["id"] == "HOST-1" and "idles" in row["sentence"] for row in rows(found)[:2]), rows(found)
    assert first["gain_low_ms"] <= first["gain_ms"] <= first["gain_high_ms"] and first["action"], first
    only = server.call("diagnose", trace=A, tier="compute")
    assert {row["tier"] for row in rows(only)} == {"compute"}


def which_kernels_cost_most(server, _):
    result = server.call("table", trace=A, table="kernel_summary", limit=3,
                         sort=[{"column": "kernel_duration_us_sum", "desc": True}])
    found = rows(result)
    expect([row["kernel_duration_us_sum"] for row in found], 1532.789, 1451.479, 1341.286)
    assert [row["kernel_duration_us_count"] for row in found] == [38, 12, 126]
    assert [row["parent_cpu_op"] for row in found] == ["aten::mm", "aten::_cudnn_attention_backward", "aten::copy_"]
    says(result, 1532.789, 1451.479, 1341.286)
    # A cut name is found again by its number.
    cut = found[2]
    assert "…" in cut["kernel_name"], cut
    whole = rows(server.call("query", trace=A, names="full",
                             sql=f"SELECT text FROM string WHERE id = {cut['kernel_name_id']}"))[0]["text"]
    assert whole.startswith(cut["kernel_name"].split("…")[0]) and "direct_copy_kernel" in whole, whole
    above = server.call("tree", trace=A, row={"table": "kernel_summary", "key": {"kernel_name": cut["kernel_name"]}})
    assert any(row["name"] == "aten::copy_" for row in rows(above)), rows(above)


def where_does_the_longest_kernel_come_from(server, _):
    longest = rows(server.call("query", trace=A, sql="SELECT id, dur/1e3 AS us, op FROM kernel ORDER BY dur DESC LIMIT 1"))
    assert longest == [{"id": 14956, "us": 221.727, "op": "aten::_log_softmax"}], longest
    result = server.call("tree", trace=A, event=14956)
    names = [row["name"] for row in rows(result)]
    wanted = ["nn.Module: GPT_0", "aten::cross_entropy_loss", "aten::_log_softmax"]
    assert [name for name in names if name in wanted] == wanted, names
    assert "ProfilerStep#1" in result["structuredContent"]["ranges"], result
    for name in [*wanted, "ProfilerStep#1", "221.727"]:
        assert name in text_of(result), text_of(result)
    short = server.call("tree", trace=A, event=14956, up=3)
    assert len([row for row in rows(short) if row["part"] == "path"]) == 3
    down = server.call("tree", trace=A, find="nn.Module: GPT_0", up=0, down=1, layers=["module"])
    assert {row["kind"] for row in rows(down)} == {"module"} and len(rows(down)) > 1, rows(down)


def are_my_gemms_good(server, _):
    result = server.call("roofline", trace=A)
    point = row_with(result, op="aten::mm", shapes="[[3072, 8192], [8192, 768]]")
    expect([point["tflops"], point["flops_per_byte"], point["percent_of_roof"], point["peak"], point["bound"]],
           665.9743182, 571.5348837, 67.31092766, 989.4, "compute")
    says(result, 665.974, 571.535, 67.31)
    assert 0 <= result["structuredContent"]["not_modelled_percent"] < 1
    assert "no model" in text_of(result)
    assert {row["bound"] for row in rows(server.call("roofline", trace=A, bound="memory"))} == {"memory"}


def would_launches_matter(server, _):
    short = server.call("query", trace=A, sql="SELECT count(*) AS n, sum(dur)/1e3 AS us FROM kernel WHERE dur < 10000")
    expect(rows(short)[0].values(), 1490, 4089.137)
    assert rows(server.call("query", trace=A, sql="SELECT count(*) AS n FROM kernel")) == [{"n": 1996}]
    latency = server.call("query", trace=A, sql="SELECT call, count(*) AS n, avg(latency)/1e3 AS us, max(latency)/1e3 AS "
                                                "most FROM launch GROUP BY call ORDER BY 2 DESC")
    expect(rows(latency)[0].values(), "cudaLaunchKernel", 1798, 11.96490100, 338.221)
    says(latency, 11.9649)


def communication_hidden(server, _):
    result = server.call("summary", trace="mi300_resnet_recompute.json.gz", options={"recompute": True})
    mine = lambda kind, again: row_with(result, type=kind, is_recompute=again)
    expect([mine("exposed_comm_time", False)["time_ms"], mine("exposed_comm_time", False)["percent"],
            mine("total_comm_time", False)["time_ms"], mine("computation_time", True)["time_ms"]],
           38.343206, 67.8428588, 47.200310, 4.122223)


def do_copies_overlap(server, _):
    result = server.call("summary", trace=STREAMS)
    expect([row_with(result, type="total_memcpy_time")["time_ms"], row_with(result, type="exposed_memcpy_time")["time_ms"]],
           7.273794, 5.185673)
    rates = rows(server.call("query", trace=STREAMS, sql="SELECT name, sum(bytes)*1.0/sum(dur) AS gb_per_s FROM gpu_event "
                                                         "WHERE kind = 'memcpy' GROUP BY name"))
    assert len(rates) == 2 and all(is_near(row["gb_per_s"], 55.35, 1e-3) for row in rates), rates


def other_gpu_same_model(server, _):
    base, new = "h100_qwen.json.gz", "mi300_qwen.json.gz"
    result = server.call("compare", traces=[base, new], gates=["total_time > 5%", "op:aten::mm > 1%"])
    total = row_with(result, "gpu_timeline", name="total_time")
    expect([total["h100_qwen"], total["mi300_qwen"], total["difference"]], 34.892419, 33.131334, -1.761085)
    assert is_near(total["change"], -5.05, 1e-3), total
    for op, before, after in (("aten::mul", 6.752901, 4.541288), ("aten::mm", 6.668679, 8.663617)):
        row = row_with(result, name=op)
        expect([row["h100_qwen"], row["mi300_qwen"]], before, after)
    assert [gate["passed"] for gate in result["structuredContent"]["gates"]] == [True, False], result
    says(result, 34.892419, 33.131334, 6.752901, 8.663617)
    result = server.call("diff", base=base, new=new)
    structure = result["structuredContent"]
    expect([structure["base"]["gpu_ms"], structure["new"]["gpu_ms"]], 31.905473, 29.743938)
    assert (structure["base"]["gpu_events"], structure["new"]["gpu_events"]) == (1198, 1054), structure
    assert {"name", "verdict", "diff"} <= set(rows(result)[0]) and rows(result, "substitutions"), structure
    assert "1198 -> 1054" in text_of(result)
    assert "```markdown" in text_of(server.call("diff", base=base, new=new, note=True, max_tokens=4000))


def slow_rank(server, _):
    result = server.call("collectives", folder="multirank8/full", options=REFERENCE)
    late = rows(result, "stragglers")
    expect([late[0][key] for key in ("rank", "times_arrived_last", "num_collectives", "pct_arrived_last",
                                     "total_wait_time_us")], 5, 33, 39, 84.6, 0.0)
    expect([late[1]["rank"], late[1]["times_arrived_last"]], 2, 6)
    costliest = rows(result, "costliest")[0]
    expect([costliest["collective_name"], costliest["total_comm_latency_ms"], costliest["bus_bw_gb_per_s_mean"]],
           "_reduce_scatter_base", 4.154824, 154.58687711)
    says(result, 4.154824, 154.587)
    ours = server.call("collectives", folder="multirank8/full", op="allgather")
    assert rows(ours) and all("allgather" in row["collective"] for row in rows(ours)), ours
    assert "rank 5" in ours["structuredContent"]["verdict"]


def what_should_this_gemm_cost(server, _):
    result = server.call("model", op="aten::mm", dims=[[4096, 8192], [8192, 1024]], dtype="bf16", gpu="H100")
    row = rows(result)[0]
    expect([row["flops"], row["bytes"], row["bound"], row["peak_rate"], row["memory_rate"]],
           68719476736, 92274688, "compute", 989.4, 3.35)
    assert is_near(row["best_time"], 69.46, 1e-4) and is_near(row["memory_us"], 27.54, 1e-3), row
    says(result, 69.46, 27.54)


def what_is_in_the_graph(server, _):
    found = rows(server.call("query", trace=GRAPH, sql="SELECT call_id, count(*) AS n, sum(gpu_dur)/1e3 AS us FROM launch "
                                                       "WHERE call = 'cudaGraphLaunch' GROUP BY call_id"))
    assert [row["n"] for row in found] == [50] * 5
    expect([sum(row["us"] for row in found)], 1380.724)
    expect([row_with(server.call("table", trace=GRAPH, table="gpu_timeline"), type="idle_time")["percent"]], 27.6695795)
    assert rows(server.call("table", trace=GRAPH, table="kernel_summary"))


def memory_at_peak(server, _):
    result = server.call("query", trace="h100_qwen.json.gz",
                         sql="SELECT max(allocated) AS a, max(reserved) AS r FROM memory WHERE device_type <> 0")
    assert rows(result) == [{"a": 2088508416, "r": 2629828608}], result
    assert "2088508416" in text_of(result)


def all_shapes(server, setting):
    """Pages are disjoint and together the table."""
    names, cursor, pages = [], None, 0
    arguments = {"trace": A, "table": "ops_unique_args", "columns": ["name", "input_dims", "operation_count"]}
    while True:
        more = {"cursor": cursor} if cursor else {}
        result = server.call("table", **arguments, **more)
        assert tokens(result) <= 2000, tokens(result)
        structure = result["structuredContent"]
        assert structure["total"] == 137 and structure["returned"] == len(structure["rows"]) <= 20, structure
        names += [(row["name"], row["operation_count"]) for row in rows(result)]
        pages += 1
        cursor = structure["next"]
        if cursor is None:
            break
        assert f"of {structure['total']} rows" in text_of(result) or f"of {structure['total']}" in text_of(result)
    text = subprocess.run([setting.program, "query", setting.data / A, "SELECT name, operation_count FROM ops_unique_args",
                           "--format", "csv"], capture_output=True, text=True, check=True).stdout
    wanted = [(row["name"], int(row["operation_count"])) for row in csv.DictReader(io.StringIO(text))]
    assert names == wanted and len(names) == 137 and pages >= 7, (pages, len(names))
    for limit in (600, 1000, 8000):
        result = server.call("table", trace=A, table="ops_unique_args", limit=100, max_tokens=limit)
        assert tokens(result) <= limit, (limit, tokens(result))


def no_shapes(server, _):
    sentence = sentence_of_error(server.call("roofline", trace="mi210_gpu_only.json.gz"))
    assert "shapes" in sentence and "record_shapes=True" in sentence, sentence


def other_ways_to_ask(server, _):
    """What the questions above leave out."""
    listed = rows(server.call("list_traces", pattern="*gpt*"))
    assert A in [row["path"] for row in listed] and {row["format"] for row in listed} == {"kineto"}, listed
    tables = server.call("tables", trace=A, max_tokens=8000)
    assert {"slice", "gpu_timeline", "kernel_summary"} <= {row["table"] for row in rows(tables)}
    columns = rows(server.call("tables", trace=A, table="kernel_summary"))
    assert any(row["column"] == "kernel_duration_us_sum" and row["unit"] == "µs" for row in columns), columns
    groups = server.call("table", trace=A, table="gpu_event", group_by=["kind"],
                         aggregate=[{"function": "count"}, {"function": "sum", "column": "dur"}],
                         sort=[{"column": "sum_dur", "desc": True}])
    assert rows(groups)[0]["kind"] == "kernel" and rows(groups)[0]["count"] == 1996, rows(groups)
    some = server.call("table", trace=A, table="ops_summary", columns=["name"], where=[
        {"column": "name", "op": "regex", "value": "^aten::(mm|addmm)$"}, {"column": "Count", "op": ">", "value": 50}])
    assert [row["name"] for row in rows(some)] == ["aten::mm"], some
    two = server.call("table", trace=A, table="ops_summary", columns=["name"],
                      where=[{"column": "name", "op": "in", "value": ["aten::mm", "aten::copy_"]}])
    assert len(rows(two)) == 2
    plan = server.call("query", trace=A, sql="EXPLAIN QUERY PLAN SELECT * FROM slice WHERE id = :id", params={"id": 7})
    assert rows(plan), plan
    script = server.call("replay", trace=A, row={"table": "ops_unique_args", "key": {"name": "aten::mm"}}, max_tokens=8000)
    compile(script["structuredContent"]["script"], "script.py", "exec")
    assert '"op":"aten::mm"' in script["structuredContent"]["script"] and script["structuredContent"]["unknown"]
    event = rows(script)[0]["event"]
    again = server.call("replay", trace=A, event=event, max_tokens=8000)
    assert rows(again)[0]["op"] == "aten::mm"
    assert json.dumps(again["structuredContent"]).count("/home") == 0


def rows_of_ops_that_share_a_kernel(server, _):
    """The event of a row is one of the row's own op."""
    shared = rows(server.call("query", trace=ZOO, names="full", max_tokens=8000, sql=(
        "SELECT kernel_name, parent_cpu_op FROM kernel_summary WHERE kernel_name IN (SELECT kernel_name FROM kernel_summary "
        "GROUP BY 1 HAVING count(*) > 1) ORDER BY length(kernel_name) LIMIT 6")))
    assert len({row["parent_cpu_op"] for row in shared}) > 1, shared
    for key in shared:
        path = rows(server.call("tree", trace=ZOO, row={"table": "kernel_summary", "key": key}))
        assert any(row["name"] == key["parent_cpu_op"] for row in path), (key, path)
    sentence = sentence_of_error(server.call("tree", trace=ZOO, row={
        "table": "kernel_summary", "key": {**shared[0], "parent_cpu_op": "aten::none"}}))
    assert "no row of the table" in sentence, sentence


def asked_again_otherwise(server, _):
    """An answer is not given for other arguments than its own."""
    for names in (["a", "b"], ["c", "d"]):
        found = server.call("compare", traces=[BASE, AGAIN], names=names)
        columns = [column["name"] for column in found["structuredContent"]["columns"]]
        assert set(names) <= set(columns), (names, columns)
    note = lambda size: text_of(server.call("diff", base=BASE, new=AGAIN, note=True, max_tokens=size)).split("```markdown")[1]
    assert len(note(600)) < len(note(4000)), (note(600), note(4000))


def scripts_that_pytorch_runs(server, _):
    """A script calls its op as PyTorch takes it; here of a stub, which refuses keywords by position."""
    before = ("import torch, types; torch.cuda = types.SimpleNamespace(Event=lambda **_: types.SimpleNamespace("
              "record=int, synchronize=int, elapsed_time=lambda _: 0.5))\n")
    ran = {}
    for trace, op in ((A, "aten::addmm"), (A, "aten::copy_"), (A, "aten::native_layer_norm"), (A, "aten::embedding"),
                      (A, "aten::cat"), (ZOO, "aten::add"), (ZOO, "aten::clamp_"), (ZOO, "aten::_to_copy")):
        found = rows(server.call("query", trace=trace, params={"op": op}, sql=(
            "SELECT id FROM op WHERE name = :op AND subtree_ns > 0 ORDER BY id LIMIT 1")))
        if not found:
            continue
        script = server.call("replay", trace=trace, event=found[0]["id"])
        assert tokens(script) <= 4000, (op, tokens(script))
        ran[op] = subprocess.run([sys.executable, "-c", before + script["structuredContent"]["script"]],
                                 env={**os.environ, "PYTHONPATH": str(STUB)}, capture_output=True, text=True)
        assert ran[op].returncode == 0 and op.split("::")[1] in ran[op].stdout, (op, ran[op].stderr)
    assert {"aten::addmm", "aten::copy_", "aten::cat"} <= set(ran), set(ran)
    sentence = sentence_of_error(server.call("replay", trace=A, row={
        "table": "ops_unique_args", "key": {"name": "aten::mm"}}, max_tokens=600))
    assert "the script takes" in sentence and "max_tokens" in sentence, sentence
    assert "HLO" in sentence_of_error(server.call("replay", trace="jax_gemm.xplane.pb.gz", event=0))
    sentence = sentence_of_error(server.call("replay", trace=GRAPH, event=rows(server.call(
        "query", trace=GRAPH, sql="SELECT gpu_id FROM launch WHERE call LIKE '%Graph%' LIMIT 1"))[0]["gpu_id"]))
    assert "graph launch" in sentence and "--uid" not in sentence, sentence


def answers_keep_to_their_tokens(server, _):
    """The least that may be asked for is enough for one row of every tool."""
    wide = "SELECT " + ", ".join(f"hex(zeroblob(4000)) AS c{i}" for i in range(30))
    for limit in (600, 1000, 2000):
        for tool, arguments in (
                ("query", {"trace": A, "sql": wide, "names": "full"}), ("query", {"trace": A, "sql": wide}),
                ("summary", {"trace": A}), ("diagnose", {"trace": A}), ("diagnose", {"trace": A, "names": "full"}),
                ("tables", {"trace": A}), ("table", {"trace": A, "table": "ops_unique_args", "names": "full"}),
                ("tree", {"trace": A, "event": 14956}), ("roofline", {"trace": A}),
                ("compare", {"traces": [BASE, AGAIN], "gates": ["total_time > 5%"] * 4}),
                ("diff", {"base": BASE, "new": AGAIN}), ("diff", {"base": BASE, "new": AGAIN, "note": True}),
                ("list_traces", {})):
            result = server.call(tool, max_tokens=limit, **arguments)
            assert not result["isError"] and tokens(result) <= limit, (tool, limit, tokens(result), text_of(result))
            assert rows(result) or tool == "model", (tool, limit)
    assert "max_tokens" in sentence_of_error(server.call("summary", trace=A, max_tokens=200))


def sentences_that_can_be_followed(server, _):
    """What a wrong call is answered with names the arguments of the tool, in signs that can be copied."""
    gate = sentence_of_error(server.call("compare", traces=[BASE, AGAIN], gates=["total_time"]))
    assert "it has no >; expected WHAT > AMOUNT" in gate, gate
    count = sentence_of_error(server.call("compare", traces=[BASE, AGAIN], names=["one"]))
    assert count.startswith("names count must equal") and "--" not in count, count
    unnamed = sentence_of_error(server.call("query", trace=A, sql="SELECT ?"))
    assert "write :name" in unnamed and "--param" not in unnamed, unnamed


CONVERSATIONS = [why_is_my_step_slow, which_kernels_cost_most, where_does_the_longest_kernel_come_from, are_my_gemms_good,
                 would_launches_matter, communication_hidden, do_copies_overlap, other_gpu_same_model, slow_rank,
                 what_should_this_gemm_cost, what_is_in_the_graph, memory_at_peak, all_shapes, no_shapes, other_ways_to_ask,
                 rows_of_ops_that_share_a_kernel, asked_again_otherwise, scripts_that_pytorch_runs, answers_keep_to_their_tokens,
                 sentences_that_can_be_followed]
