"""Lines, messages, eras, lists and errors of the protocol."""
import json
import subprocess
import time

from client import LEGACY, META, MODERN, PATIENCE, Server, text_of
from facts import rows, sentence_of_error, tokens
from schema import misfits

TOOLS = ["list_traces", "summary", "diagnose", "tables", "table", "tree", "query", "compare", "diff", "collectives",
         "roofline", "model", "replay"]
A = "h200_gpt_train_amp.json.gz"
MODEL = {"op": "aten::mm", "dims": [[8, 4], [4, 2]], "dtype": "bf16", "gpu": "H100"}


def lists(setting, era):
    """Tools, resources and prompts, with what each era wants of a list."""
    with Server(setting.program, [setting.data], era) as server:
        listed = server.request("tools/list")["result"]
        assert [tool["name"] for tool in listed["tools"]] == TOOLS
        assert listed == server.request("tools/list")["result"]
        is_modern = era == MODERN
        for method, member in (("tools/list", "tools"), ("resources/list", "resources"), ("prompts/list", "prompts"),
                               ("resources/templates/list", "resourceTemplates")):
            result = server.request(method)["result"]
            assert result[member], result
            assert ("ttlMs" in result) == ("cacheScope" in result) == ("resultType" in result) == is_modern, result
            assert server.request(method, {"cursor": "x"})["error"]["code"] == -32602
        seen = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in listed["tools"]]
        size = sum(len(json.dumps(tool, separators=(",", ":"), ensure_ascii=False)) for tool in seen)
        assert size / 3 <= 3500, size / 3
        for tool in listed["tools"]:
            assert len(tool["description"].split()) <= 60, tool
            assert tool["annotations"] == {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True,
                                           "openWorldHint": False}, tool
            assert tool["inputSchema"]["type"] == tool["outputSchema"]["type"] == "object", tool
            assert tool["inputSchema"]["additionalProperties"] is False, tool


def texts(setting, era):
    """Resources and prompts can be read."""
    with Server(setting.program, [setting.data], era) as server:
        for resource in server.request("resources/list")["result"]["resources"]:
            contents = server.request("resources/read", {"uri": resource["uri"]})["result"]["contents"]
            assert contents[0]["uri"] == resource["uri"] and len(contents[0]["text"]) > 300, contents
        for uri, word in (("tracelens://table/gpu_timeline", "exposed_comm_time"), ("tracelens://gpu/MI300X", "TFLOP/s ("),
                          ("tracelens://help/sql", "launch_id"), ("tracelens://tables", "`ops_unique_args`: ")):
            assert word in server.request("resources/read", {"uri": uri})["result"]["contents"][0]["text"]
        for uri in ("tracelens://table/none", "tracelens://gpu/none", "file:///etc/passwd"):
            code = server.request("resources/read", {"uri": uri})["error"]["code"]
            assert code == (-32602 if era == MODERN else -32002), code
        prompts = server.request("prompts/list")["result"]["prompts"]
        assert [prompt["name"] for prompt in prompts] == ["analyse_trace", "compare_runs", "slow_ranks", "write_report"]
        for prompt in prompts:
            arguments = {argument["name"]: "x.json" for argument in prompt["arguments"]}
            got = server.request("prompts/get", {"name": prompt["name"], "arguments": arguments})["result"]
            assert "`x.json`" in got["messages"][0]["content"]["text"], got
        assert server.request("prompts/get", {"name": "compare_runs", "arguments": {}})["error"]["code"] == -32602
        assert server.request("prompts/get", {"name": "none"})["error"]["code"] == -32602


def results_fit_their_schemas(setting, era):
    calls = {"list_traces": {}, "summary": {"trace": A}, "diagnose": {"trace": A}, "tables": {"trace": A},
             "table": {"trace": A, "table": "ops_summary"}, "tree": {"trace": A, "event": 14956},
             "query": {"trace": A, "sql": "SELECT 1 AS one, 'a' AS a, NULL AS n, 1.5 AS r, x'00ff' AS b"},
             "compare": {"traces": ["h200_pair_base.json.gz", "h200_pair_math.json.gz"]},
             "diff": {"base": "h200_pair_base.json.gz", "new": "h200_pair_math.json.gz"},
             "roofline": {"trace": A}, "model": MODEL, "replay": {"trace": A, "event": 165}}
    with Server(setting.program, [setting.data], era) as server:
        listed = {tool["name"]: tool for tool in server.request("tools/list")["result"]["tools"]}
        for tool, arguments in calls.items():
            assert not misfits(arguments, listed[tool]["inputSchema"])
            result = server.call(tool, **arguments)
            assert result["isError"] is False, result
            assert not misfits(result["structuredContent"], listed[tool]["outputSchema"]), tool
            assert tokens(result) <= 2000 or result["structuredContent"]["returned"] == 1, (tool, tokens(result))
            assert ("resultType" in result) == (era == MODERN), result
            if era == MODERN:
                assert result["_meta"][META + "serverInfo"]["name"] == "tracelens"
            for column in result["structuredContent"]["columns"]:
                assert set(column) == {"name", "unit", "from_trace"}, column
            assert "/" + str(setting.data).strip("/") not in json.dumps(result), tool


def framing(setting, era):
    """How bytes are cut into writes makes no difference, and every line is answered."""
    with Server(setting.program, [setting.data], era) as server:
        ping = lambda number: json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/list",
                                          "params": server.params({})}).encode()
        whole = ping(1001)
        server.write(whole[:20])
        time.sleep(0.05)
        server.write(whole[20:] + b"\n")
        server.write(ping(1002) + b"\n" + ping(1003) + b"\n")
        server.write(ping("four") + b"\r\n\n\r\n")
        for number in (1001, 1002, 1003, "four"):
            assert "result" in server.wait(number)
        for line in (b"{", b"nonsense", b"\xff\xfe{}", b'{"jsonrpc":"2.0","id":1,"method":"\xc3\x28"}', b"{}x",
                     b'"' + b"x" * (5 << 20) + b'"'):
            server.write(line + b"\n")
            error = server.next()
            assert error["id"] is None and error["error"]["code"] == -32700, error
        for line in (b"[]", b"3", b"{}", b'{"jsonrpc":"1.0","id":1,"method":"ping"}', b'{"jsonrpc":"2.0","id":1}',
                     b'{"jsonrpc":"2.0","id":null,"method":"ping"}', b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
                     b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]'):
            server.write(line + b"\n")
            assert server.next()["error"]["code"] == -32600, line
        server.write(b'{"jsonrpc":"2.0","id":7,"result":{}}\n')  # to nothing we asked
        server.write(b'{"jsonrpc":"2.0","method":"notifications/other"}\n')
        server.write(b'{"jsonrpc":"2.0","id":8,"method":"tools/list","params":[]}\n')
        assert server.next()["error"]["code"] == -32602
        assert "result" in server.request("tools/list")
        server.write(ping(1005))  # cut by the end


def eras(setting, era):
    """Which requests belong to which era, and what an unknown version is answered."""
    with Server(setting.program, [setting.data], era) as server:
        ask = lambda method, meta=None: server.wait(_send(server, method, meta))
        whole = {META + "protocolVersion": MODERN, META + "clientCapabilities": {}}
        discovered = ask("server/discover", whole)["result"]
        assert MODERN in discovered["supportedVersions"] and discovered["resultType"] == "complete"
        assert set(discovered["capabilities"]) == {"tools", "resources", "prompts"}
        assert len(discovered["instructions"].split()) <= 150 and discovered["cacheScope"] == "public"
        error = ask("tools/list", {**whole, META + "protocolVersion": "1999-01-01"})["error"]
        assert error["code"] == -32022 and error["data"]["requested"] == "1999-01-01" and error["data"]["supported"]
        assert ask("tools/list", {META + "protocolVersion": MODERN})["error"]["code"] == -32602
        assert ask("ping", whole)["error"]["code"] == -32601
        assert ask("logging/setLevel", whole)["error"]["code"] == -32601
        if era == MODERN:
            error = ask("tools/list")["error"]
            assert error["code"] == -32602 and MODERN in error["message"] and LEGACY in error["message"]
        else:
            assert ask("ping")["result"] == {}
            assert ask("server/discover")["error"]["code"] == -32601
            assert "resultType" not in ask("tools/list")["result"]
        for wanted, given in (("2025-06-18", "2025-06-18"), (LEGACY, LEGACY), ("2024-11-05", LEGACY), ("x", LEGACY)):
            result = server.request("initialize", {"protocolVersion": wanted, "capabilities": {}})["result"]
            assert result["protocolVersion"] == given and result["serverInfo"]["name"] == "tracelens", result
            assert result["capabilities"] == {"tools": {}, "resources": {}, "prompts": {}}
        assert ask("ping")["result"] == {}
        assert server.request("initialize", {})["error"]["code"] == -32602


def _send(server, method, meta):
    server.next_id += 1
    params = {} if meta is None else {"_meta": meta}
    server.send({"jsonrpc": "2.0", "id": server.next_id, "method": method, "params": params})
    return server.next_id


def errors(setting, era):
    """What a client did wrong is an error of the protocol; what a model can mend is a result that says how."""
    with Server(setting.program, [setting.data], era) as server:
        code = lambda method, **params: server.request(method, params)["error"]["code"]
        assert code("no/such") == -32601
        assert code("tools/call", name="no_such") == -32602
        assert code("tools/call") == -32602
        assert code("tools/call", name="model", arguments=[1]) == -32602
        said = lambda tool, **arguments: sentence_of_error(server.call(tool, **arguments))
        assert "did you mean kernel_summary" in said("table", trace=A, table="kernel_sumary")
        assert "kernel_duration_us_sum" in said("table", trace=A, table="kernel_summary", columns=["kernel_time"])
        assert "not in the report of this trace" in said("table", trace=A, table="CONV_fwd")
        assert "list_traces" in said("summary", trace="none.json.gz")
        assert A in said("summary", trace="h200_gpt_train_amp.json")
        wrong = said("query", trace=A, sql="SELECT nam FROM slice")
        assert "did you mean name" in wrong and "^" in wrong, wrong
        assert "is missing" in said("table", trace=A)
        assert "did you mean limit" in said("table", trace=A, table="ops_summary", limt=3)
        assert "1 to 500" in said("table", trace=A, table="ops_summary", limit=1000)
        assert "short, full" in said("summary", trace=A, names="long")
        assert "options.gpus" in said("summary", trace=A, options={"gpus": "H100"})
        assert "H100" in said("summary", trace=A, options={"gpu": "no such"})
        assert "one of" in said("table", trace=A, table="ops_summary", where=[{"column": "name", "op": "~", "value": 1}])
        assert "text" in said("summary", trace=7)
        assert "event" in said("tree", trace=A, event=10**9)
        assert "one of event" in said("tree", trace=A)
        assert "dims" in said("model", op="aten::mm", dims=["x"], dtype="bf16", gpu="H100")
        assert "--" not in said("model", op="aten::mm", dims=[[1, 2]], dtype="zz", gpu="H100")
        assert "no model" in said("model", op="aten::none", dims=[[1, 2]], dtype="bf16", gpu="H100")
        assert "folder, or" in said("collectives")
        assert "2 to 8" in said("compare", traces=[A])
        assert said("collectives", folder="graph_decode/none")
        first = server.call("table", trace=A, table="ops_summary", limit=3)["structuredContent"]["next"]
        assert "cursor" in said("table", trace=A, table="kernel_summary", cursor=first)
        assert "cursor" in said("table", trace=A, table="ops_summary", cursor="xx")
        broken = setting.folder / f"broken{era}"
        broken.mkdir()
        (broken / "a.json").write_text('{"no": "trace"}')
        (broken / "b.json.gz").write_bytes(b"\x1f\x8bnonsense")
    with Server(setting.program, [broken], era) as server:
        for name in ("a.json", "b.json.gz"):
            sentence = sentence_of_error(server.call("summary", trace=name))
            assert str(broken) not in sentence and "/proc" not in sentence and name in sentence, sentence


def changed_file(setting, era):
    """A cursor of a file that has changed since is refused, and the new content is read."""
    folder = setting.folder / f"changed{era}"
    folder.mkdir()
    event = lambda i: {"ph": "X", "cat": "cpu_op", "name": f"op{i}", "pid": 1, "tid": 1, "ts": i * 10, "dur": 5}
    write = lambda count: (folder / "t.json").write_text(json.dumps({"traceEvents": [event(i) for i in range(count)]}))
    write(50)
    with Server(setting.program, [folder], era) as server:
        ask = {"trace": "t.json", "table": "slice", "limit": 10}
        first = server.call("table", **ask)["structuredContent"]
        assert first["total"] == 50 and first["returned"] == 10
        second = server.call("table", **ask, cursor=first["next"])["structuredContent"]
        assert second["rows"][0][0] == 10, second
        write(60)
        assert "changed" in sentence_of_error(server.call("table", **ask, cursor=first["next"]))
        assert server.call("table", **ask)["structuredContent"]["total"] == 60


def progress_and_order(setting, era):
    """A long read tells how far it is, and does not hold up what is at hand."""
    huge = setting.huge_trace()
    with Server(setting.program, [huge.parent], era) as server:
        long = server.start("tools/call", {"name": "summary", "arguments": {"trace": huge.name}}, token="p0")
        server.wait_for_progress("p0", 0)
        assert "result" in server.request("tools/list")
        assert not any(message.get("id") == long for message in server.kept)  # it is still being read
        server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": long}})
    trace = setting.folder / "long" / "big.json.gz"
    if not trace.exists():
        make_big_trace(trace, 2 if setting.is_sanitized else 12)
    with Server(setting.program, [trace.parent], era) as server:
        long = server.start("tools/call", {"name": "summary", "arguments": {"trace": trace.name}}, token="p1")
        assert server.wait(long)["result"]["isError"] is False
        told = [message["params"] for message in server.kept if message.get("method") == "notifications/progress"]
        assert told and all(one["progressToken"] == "p1" and one["total"] == 1 for one in told), told
        assert all(one["progress"] < two["progress"] for one, two in zip(told, told[1:])), told
        assert server.messages.empty()


def make_big_trace(path, pieces):
    """A trace of about 16 MB of text a piece; the packed piece is written again and again."""
    import gzip
    path.parent.mkdir(exist_ok=True)
    event = '{"ph":"X","cat":"cpu_op","name":"op%d","pid":1,"tid":1,"ts":%d,"dur":1,"args":{"External id":%d,"filler":"%s"}},'
    piece = gzip.compress("".join(event % (i % 7, i * 2, i, "x" * 60) for i in range(120_000)).encode(), 1)
    with open(path, "wb") as out:
        out.write(gzip.compress(b'{"traceEvents":['))
        for _ in range(pieces):
            out.write(piece)
        out.write(gzip.compress(b'{"ph":"X","cat":"cpu_op","name":"end","pid":1,"tid":1,"ts":1,"dur":1}]}'))


def cancel_a_long_read(setting, era):
    trace = setting.huge_trace()
    with Server(setting.program, [trace.parent], era) as server:
        server.call("model", **MODEL)
        before = server.memory_mb()
        long = server.start("tools/call", {"name": "summary", "arguments": {"trace": trace.name}}, token="p2")
        server.wait_for_progress("p2", 0.02)
        server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": long, "reason": "no"}})
        assert rows(server.call("model", **MODEL))
        taken = server.taken
        time.sleep(1.5)
        deadline = time.monotonic() + PATIENCE  # a busy machine needs longer; what was read after all stays in memory
        while (after := server.memory_mb()) >= before + 60 and not setting.is_sanitized and time.monotonic() < deadline:
            time.sleep(0.1)
        print(f"   model {1e3 * taken:.0f} ms after the cancel; memory {before:.0f} -> {after:.0f} MB")
        assert setting.is_sanitized or after < before + 60, (before, after)
        assert server.messages.empty() and not any(message.get("id") == long for message in server.kept)
        # Cancelling what is not there, and what is over, changes nothing.
        for number in (long, 99999, "x"):
            server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
        assert rows(server.call("model", **MODEL))


def too_many_calls(setting, era):
    with Server(setting.program, [setting.data], era) as server:
        call = {"jsonrpc": "2.0", "method": "tools/call", "params": server.params({"name": "model", "arguments": MODEL})}
        results, refused = [], []
        while not refused and len(results) < 2000:  # a busy machine may take more than a second for the first ones
            ids = range(len(results) + 100, len(results) + 300)
            server.write(b"".join(json.dumps({**call, "id": number}).encode() + b"\n" for number in ids))
            results += [server.wait(number)["result"] for number in ids]
            refused = [result for result in results if result["isError"]]
        assert refused and len(results) - len(refused) >= 20 and "second" in text_of(refused[0]), len(refused)
        time.sleep(1.1)
        assert server.call("model", **MODEL)["isError"] is False


def end_of_input(setting, era):
    """What is short is answered, what is long is given up, and the status is 0."""
    server = Server(setting.program, [setting.data], era)
    number = server.start("tools/call", {"name": "model", "arguments": MODEL})
    server.process.stdin.close()
    assert "result" in server.wait(number)
    assert server.process.wait(PATIENCE) == 0
    trace = setting.huge_trace()
    server = Server(setting.program, [trace.parent], era)
    long = server.start("tools/call", {"name": "summary", "arguments": {"trace": trace.name}}, token="p3")
    server.wait_for_progress("p3", 0)
    server.process.stdin.close()
    assert server.process.wait(PATIENCE) == 0
    try:
        assert server.wait(long)["result"]["isError"], "the whole trace was read"
    except EOFError:
        pass  # given up without a word


def output_left_unread(setting, era):
    """A client that neither reads nor writes any more, or whose end is closed, keeps no server."""
    for closes_output in (False, True):
        process = subprocess.Popen([setting.program, "mcp", str(setting.data)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        if closes_output:
            process.stdout.close()
        meta = {META + "protocolVersion": MODERN, META + "clientCapabilities": {}}
        for number in range(40):
            process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/list",
                                            "params": {"_meta": meta}}).encode() + b"\n")
        try:
            process.stdin.flush()
            if not closes_output:
                time.sleep(0.3)
                process.stdin.close()
        except BrokenPipeError:
            pass
        process.wait(PATIENCE)


CHECKS = [lists, texts, results_fit_their_schemas, framing, eras, errors, changed_file, progress_and_order,
          cancel_a_long_read, too_many_calls, end_of_input, output_left_unread]
