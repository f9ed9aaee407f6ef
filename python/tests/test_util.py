"""Traces as dictionaries, and functions on lists of events."""

import gzip
import json
import os
import struct
import sys
import types

import pytest

from TraceLens.util import (
    DataLoader,
    JaxProfileProcessor,
    PftraceParser,
    RocprofParser,
    TraceEventUtils,
    merge_intervals,
)

BACKEND = ('backend_config={"gemm_backend_config":{"alpha_real":1,"beta":%d,"dot_dimension_numbers":'
           '{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"]},"epilogue":"%s"}}')
KEYS, FIELDS, THREADS = TraceEventUtils.TraceKeys, TraceEventUtils.MetadataFields, TraceEventUtils.JaxSpecialThreads


def about(pid, tid, name, value):
    key = {"process_name": "name", "thread_name": "name", "process_labels": "labels"}.get(name, "sort_index")
    return {"ph": "M", "pid": pid, "tid": tid, "name": name, "args": {key: value}}


# --- Files --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, opener", [("t.json", open), ("t.json.gz", gzip.open)])
def test_a_document_is_read_whole_even_with_broken_text(tmp_path, name, opener):
    with opener(tmp_path / name, "wb") as file:
        file.write(b'{"traceEvents": [{"name": "p\xb5q"}], "schemaVersion": 1}')
    document = DataLoader.load_data(tmp_path / name)
    assert document["schemaVersion"] == 1
    assert document["traceEvents"][0]["name"] == "p\ufffdq"
    assert DataLoader.load_data(str(tmp_path / name)) == document


def test_other_files_are_refused(tmp_path):
    with pytest.raises(ValueError, match="Unknown file type"):
        DataLoader.load_data("trace.txt")
    with pytest.raises(FileNotFoundError):
        DataLoader.load_data(tmp_path / "none.json")
    (tmp_path / "cut.json").write_text('{"traceEvents": [')
    with pytest.raises(json.JSONDecodeError):
        DataLoader.load_data(tmp_path / "cut.json")


def field(number, value):
    """A field of a protocol buffer: a whole number, a real one, a text or a message."""
    def varint(rest):
        rest &= 2**64 - 1
        out = bytearray()
        while rest > 127:
            out.append(rest & 127 | 128)
            rest >>= 7
        return bytes([*out, rest])

    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    body = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(body)) + body


def named(number, key, *fields):
    return field(number, field(1, key) + field(2, b"".join(fields)))


PROFILE = field(1, b"".join((
    field(1, 7), field(2, "/device:GPU:7"), named(5, 1, field(2, "hlo_op")), named(5, 2, field(2, "dot.3")),
    named(5, 3, field(2, "big")), named(5, 4, field(2, "occupancy")), named(5, 5, field(2, "kernel_details")),
    named(4, 1, field(2, "gemm"), field(5, field(1, 4) + field(2, 1.5))), named(4, 2, field(2, "x"), field(4, "shown")),
    named(4, 3, field(2, "MemoryAllocation")),
    field(3, b"".join((field(1, -2), field(2, "Stream #1"), field(3, 1000),
                       field(4, field(1, 2) + field(2, 7000000)),
                       field(4, field(1, 1) + field(2, 3000000) + field(3, 2000000)
                             + field(4, field(1, 1) + field(7, 2)) + field(4, field(1, 3) + field(3, 2**60))
                             + field(4, field(1, 5) + field(5, "regs:4"))),
                       field(4, field(1, 3))))),
    field(3, field(1, 9) + field(2, "Stream #9")),
))) + field(1, field(2, "/device:GPU:0")) + field(1, b"".join((
    field(2, "/host:CPU"), named(4, 1, field(2, "$main")),
    field(3, field(1, 5) + field(11, "python") + field(4, field(1, 1) + field(3, 9000000))))))


def test_a_profile_is_read_without_any_converter(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "xprof", None)
    path = tmp_path / "node1.xplane.pb"
    path.write_bytes(PROFILE)
    metadata, events = TraceEventUtils.split_event_list(DataLoader.load_data(path)["traceEvents"])
    stream = 2**32 - 2
    assert metadata == {8: {None: {"process_name": "node1 /device:GPU:7", "process_sort_index": 8},
                            stream: {"thread_name": "Stream #1", "thread_sort_index": stream}},
                        701: {None: {"process_name": "node1 /host:CPU", "process_sort_index": 701},
                              5: {"thread_name": "python", "thread_sort_index": 5}}}
    assert events == [
        {"ph": "X", "pid": 8, "tid": stream, "ts": 4.0, "dur": 2.0, "name": "gemm",
         "args": {"occupancy": 1.5, "hlo_op": "dot.3", "big": str(2**60)}},
        {"ph": "X", "pid": 8, "tid": stream, "ts": 8.0, "dur": 1e-6, "name": "shown"},
        {"ph": "X", "pid": 701, "tid": 5, "ts": 0.0, "dur": 9.0, "name": "$main"}]


def shape(kind, *sizes):
    layout = bytes(reversed(range(len(sizes))))
    return field(2, kind) + field(3, bytes(sizes)) + (field(5, field(1, layout)) if sizes else b"")


def instruction(number, name, opcode, result, *more):
    return field(2, b"".join((field(1, name), field(2, opcode), field(3, result), field(35, number << 32), *more)))


def operands(*numbers):
    return b"".join(field(36, number << 32) for number in numbers)


def test_modules_of_a_profile_are_read_without_any_converter(monkeypatch, tmp_path, caplog):
    monkeypatch.setitem(sys.modules, "xprof", None)
    workspace = field(4, shape(16, 2, 8)) + field(4, shape(2, 64))
    computation = b"".join((
        instruction(1, "a", "parameter", shape(16, 2, 4), field(9, 0)),
        instruction(2, "b", "parameter", shape(16, 4, 8), field(9, 1)),
        instruction(3, "gemm.3", "custom-call", field(2, 13) + workspace, operands(1, 2), field(28, "__cublas$gemm"),
                    field(43, (BACKEND % (0, "DEFAULT"))[len("backend_config="):]),
                    field(7, field(2, "jit(f)/dot") + field(4, 12))),
        instruction(4, "all-reduce.4", "all-reduce", shape(11, 4), operands(1, 1, 1, 1, 1, 2),
                    field(49, field(1, bytes((0, 1)))), field(49, field(1, bytes((2, 3))))),
    ))
    module = field(1, field(1, "jit_f") + field(3, computation))
    plane = field(2, "/host:metadata") + named(4, 9, field(2, "jit_f(9)"), field(5, field(1, 1) + field(6, module)))
    path = tmp_path / "x.xplane.pb"
    path.write_bytes(PROFILE + field(1, plane))
    ops = JaxProfileProcessor.process_protobuf_file(str(path), "jit_f")
    assert ops["%gemm.3"]["output"] == "(bf16[2,8]{1,0},s8[64]{0})"
    assert ops["%gemm.3"]["operands"] == ["bf16[2,4]{1,0}", "bf16[4,8]{1,0}"]
    assert ops["%gemm.3"]["metadata"] == 'metadata={op_name="jit(f)/dot" source_line=12'
    assert ops["%all-reduce.4"]["replica_groups"] == "{{0,1},{2,3}}"
    assert ops["%all-reduce.4"]["operands"][5] == "/*index=5*/%b"
    assert JaxProfileProcessor.process_gemm_ops(ops)["%gemm.3"] == {
        "Batch": 1, "M": 8, "N": 2, "K": 4, "Beta": 0, "Type": "bf16", "Computation": "gemm"}
    assert JaxProfileProcessor.process_protobuf_file(str(path), "jit_f(9)") == ops
    assert JaxProfileProcessor.process_protobuf_file(str(path), "jit_g") == {}
    assert "No module jit_g" in caplog.text


@pytest.mark.parametrize("data", [PROFILE[:-3], b"\x0b", b"\xff" * 12, b'{"traceEvents": []}'])
def test_what_is_no_profile_is_refused(monkeypatch, tmp_path, data):
    monkeypatch.setitem(sys.modules, "xprof", None)
    (tmp_path / "x.pb").write_bytes(data)
    with pytest.raises(ValueError, match="is no profile of JAX"):
        DataLoader.load_data(tmp_path / "x.pb")


def test_a_profile_is_converted_where_the_converter_is(monkeypatch, tmp_path, capfd):
    def convert(paths, tool, options):
        os.write(2, b"hlo_instruction.cc: chatter\nkept\n")
        if tool == "graph_viewer":
            return b"%x = bf16[4,8]{1,0} parameter(0)\n", None
        return json.dumps({"traceEvents": [{}, {"name": "mark", "ph": "i", "ts": 1.0}]}), None

    module = types.ModuleType("xprof.convert")
    module.raw_to_tool_data = types.SimpleNamespace(xspace_to_tool_data=convert,
                                                    xspace_to_tool_names=lambda paths: None)
    monkeypatch.setitem(sys.modules, "xprof", types.ModuleType("xprof"))
    monkeypatch.setitem(sys.modules, "xprof.convert", module)
    path = tmp_path / "host.xplane.pb"
    document = DataLoader.load_data(path, save_preprocessed=True)
    assert document == {"traceEvents": [{"name": "mark", "ph": "X", "ts": 1.0, "dur": 1e-6}]}
    assert json.loads((tmp_path / "host.xplane.processed.json").read_text()) == document
    assert JaxProfileProcessor.process_protobuf_file(str(path), "main") == {}
    (tmp_path / "main(3).hlo_proto.pb").write_bytes(b"")
    assert "%x" in JaxProfileProcessor.process_protobuf_file(str(path), "main")
    assert capfd.readouterr().err.count("kept\n") == 2


# --- Events -------------------------------------------------------------------------------------------------


def test_members_of_the_enums_are_their_texts():
    assert KEYS.TimeEnd == "t_end" and str(KEYS.TimeEnd) == "t_end" and f"{KEYS.UID}" == "UID"
    assert {"ts": 1}[KEYS.TimeStamp] == 1
    assert {KEYS.Name: 2}["name"] == 2
    assert TraceEventUtils.GpuEventCategories.MemCpy == "gpu_memcpy"


def test_metadata_and_the_rest():
    events = [about(1, 0, "process_name", "python"), about(1, 7, "thread_name", "main"),
              about(1, 7, "thread_sort_index", 3), about(2, None, "process_labels", "GPU 0"),
              {"ph": "X", "pid": 1, "tid": 7, "cat": "kernel"},
              {"ph": "X", "pid": 1, "tid": 8, "cat": "cpu_op"}, {"ph": "X", "pid": 1, "tid": 7, "cat": "kernel"}]
    metadata, rest = TraceEventUtils.split_event_list(events)
    assert metadata == {1: {0: {"process_name": "python"}, 7: {"thread_name": "main", "thread_sort_index": 3}},
                        2: {None: {"process_labels": "GPU 0"}}}
    assert rest == events[4:]
    groups = TraceEventUtils.split_by_field(rest, "cat")
    assert [(key, len(group)) for key, group in groups.items()] == [("kernel", 2), ("cpu_op", 1)]
    threads = TraceEventUtils.split_events_by_pid_tid(events)[1]
    assert {tid: len(group) for tid, group in threads.items()} == {7: 2, 8: 1}
    named = TraceEventUtils.find_threads_by_item_in_metadata(metadata[1], lambda item: "thread_name" in item[1])
    assert list(named) == [7]
    with pytest.raises(KeyError):
        TraceEventUtils.get_metadata([about(1, 1, "process_uptime", 5)])


def test_order_and_ends():
    events = [{"ts": 20, "dur": 1}, {"ts": 10, "dur": 5}, {"ts": 10, "dur": 2}, {"ts": 30}]
    TraceEventUtils.sort_events_by_timestamp_duration(events)
    TraceEventUtils.compute_event_end_times(events)
    assert [event.get("t_end") for event in events] == [12, 15, 21, None]


@pytest.mark.parametrize("thread, name, category", [
    (THREADS.FrameworkCallStack, "scope", "cpu_op"),
    ("Framework Name Scope - from #3", "scope", "cpu_op"),
    ("py_xla_execute", "run", "cpu_op"),
    (THREADS.XlaOps, "fusion.1", "python function"),
    ("Stream #3(Compute)", "MemcpyH2D", "memcpy"),
    ("Stream #3(Compute)", "copy_fusion", "memcpy"),
    ("Stream #3(Compute)", "Memset 0", "memset"),
    ("Stream #3(Compute)", "gemm", "kernel"),
    ("XLA Opsx", "fusion", "Unknown"),
    (None, "main", "Unknown"),
])
def test_category_of_a_jax_event_by_its_thread(thread, name, category):
    events = [about(1, 3, "thread_name", thread) if thread else about(1, 3, "thread_sort_index", 1),
              {"ph": "X", "pid": 1, "tid": 3, "name": name}]
    categorize = TraceEventUtils.prepare_event_categorizer(events)
    assert [categorize(event) for event in events] == ["metadata", category]


def test_names_of_collectives():
    is_one = TraceEventUtils.is_communication_string
    assert [is_one(name) for name in ("ncclKernel", "RCCL_x", "void cross_device_reduce_1stage", "gemm", "", None)] == [
        True, True, True, False, False, False]
    patterns, rules = TraceEventUtils.build_collective_filter_and_inference_rules([("Quick_AR", "allreduce")])
    assert any(pattern.search("quick_ar_kernel") for pattern in patterns)
    assert not any(pattern.search("cross_device_reduce") for pattern in patterns)
    assert [collective for _, collective in rules] == ["allreduce"]
    assert len(TraceEventUtils.get_communication_regexes()) == 3
    assert len(TraceEventUtils.get_communication_regexes([])) == 2


def test_copies_that_old_rocm_recorded_as_kernels():
    assert TraceEventUtils.is_rocm_legacy_memcpy("MEMORY_COPY_DEVICE_TO_HOST")
    assert TraceEventUtils.is_rocm_legacy_memcpy("__amd_rocclr_copyBufferRectAligned.kd")
    assert TraceEventUtils.is_rocm_legacy_memset("__amd_rocclr_fillBufferAligned")
    assert not TraceEventUtils.is_rocm_legacy_memcpy("x__amd_rocclr_copyBuffer")
    assert not TraceEventUtils.is_rocm_legacy_memset("")


def test_merged_intervals():
    assert merge_intervals([(40, 50), (0, 10), (5, 15), (15, 16), (20, 20)]) == [(0, 16), (20, 20), (40, 50)]


# --- HLO as text --------------------------------------------------------------------------------------------

MODULE = f"""HloModule jit_step, entry_computation_layout=x
ENTRY %main (a: f32[128,512], b: f32[512,256]) -> f32[128,256] {{
  %a = f32[128,512]{{1,0}} parameter(0)
  %b = f32[512,256]{{1,0}} parameter(1)
  %gemm.1 = (f32[128,256]{{1,0}}, s8[64]{{0}}) custom-call(%a, %b), custom_call_target="__cublas$gemm", """ \
    f"""metadata={{op_name="jit(step)/dot"}}, {BACKEND % (0, "DEFAULT")}
  %all-gather-start = f32[8,128]{{1,0}} all-gather-start(%a), replica_groups={{{{0,1}},{{2,3}}}}
  ROOT %out = f32[128,256]{{1,0}} get-tuple-element(%gemm.1), index=0
}}
"""


@pytest.fixture
def module(tmp_path):
    (tmp_path / "module.txt").write_text(MODULE)
    return JaxProfileProcessor.process_xla_file(tmp_path / "module.txt")


def test_instructions_become_records(module):
    assert "%out" not in module
    gemm = module["%gemm.1"]
    assert gemm["operands"] == ["f32[128,512]{1,0}", "f32[512,256]{1,0}"]
    assert gemm["output"] == "(f32[128,256]{1,0},s8[64]{0})"
    assert (gemm["computation"], gemm["type"]) == ("gemm", "f32")
    assert gemm["custom_call_target"] == 'custom_call_target="__cublas$gemm"'
    assert gemm["metadata"] == 'metadata={op_name="jit(step)/dot"'
    assert module["%all-gather-start"]["replica_groups"] == "{{0,1},{2,3}}"


def test_a_product_is_seen_as_the_library_sees_it(module):
    assert JaxProfileProcessor.process_gemm_ops(module)["%gemm.1"] == {
        "Batch": 1, "M": 256, "N": 128, "K": 512, "Beta": 0, "Type": "f32", "Computation": "gemm"}
    column_major = {**module["%gemm.1"], "output": "(f32[2,128,256]{0,1,2})",
                    "operands": ["f32[2,512,128]{0,1,2}", "f32[512,2,256]{0,1,2}"]}
    assert JaxProfileProcessor.process_gemm_ops({"%g": column_major})["%g"] == {
        "Batch": 2, "M": 128, "N": 256, "K": 512, "Beta": 0, "Type": "f32", "Computation": "gemm"}


@pytest.mark.parametrize("change, message", [
    ({"backend_config": None}, "without backend_config"),
    ({"backend_config": 'backend_config={"beta":'}, "of an unknown form"),
    ({"backend_config": 'backend_config={"beta":0,"lhs_contracting_dimensions":["7"]'}, "dimensions \\[7\\] of"),
    ({"operands": []}, "two to four operands, not 0"),
    ({"operands": ["f32[128,512]{1,0}"] * 4}, "epilogue"),
    ({"operands": ["f32[128,512]{1,0}", "f32[256,512]{1,0}"]}, "do not share an inner size"),
    ({"output": "(f32[1,2,3,4]{0,1,2,3})"}, "more than batches"),
    ({"output": "(f32[], s8[8]{0})"}, "no matrix among the results"),
])
def test_a_product_that_makes_no_sense_is_refused(module, change, message):
    op = {key: value for key, value in {**module["%gemm.1"], **change}.items() if value is not None}
    with pytest.raises(ValueError, match=message):
        JaxProfileProcessor.process_gemm_ops({"%g": op})


def test_types_of_operands():
    ops = {"%x": {"output": "bf16[4,8]{1,0}"}, "%y": {"output": "s8[4]{0}"}}
    kinds = [JaxProfileProcessor.get_operand_type(ops, operand) for operand in ("f8e4m3[2]{0}", "%x", "%y", "%z")]
    assert kinds == ["f8", "bf16", None, None]
    with pytest.raises(ValueError, match="have several types"):
        JaxProfileProcessor.get_dict(
            ops, '%g = (f32[1]{0}) custom-call(bf16[1]{0} %x, f32[1]{0} %w), custom_call_target="cublas"')


def test_collectives_that_a_trace_numbers_otherwise():
    ops = {"%reduce-scatter-start.0": {}, "%reduce-scatter-start.1": {}, "%all-gather-done": {}, "%gemm.0": {}}
    aliases = JaxProfileProcessor.build_collective_hlo_aliases(
        ops, ["reduce-scatter.9", "reduce-scatter.4", "reduce-scatter.10", "gemm.0", "all-to-all.1", "all-gather.x"])
    assert aliases == {"%reduce-scatter.4": "%reduce-scatter-start.0", "%reduce-scatter.9": "%reduce-scatter-start.1",
                       "%reduce-scatter.10": "%reduce-scatter-start.1"}
    resolve = JaxProfileProcessor.resolve_hlo_op_key
    assert resolve("gemm.0", ops) == "%gemm.0"
    assert resolve("reduce-scatter.9", ops, aliases) == "%reduce-scatter-start.1"
    assert resolve("all-gather.3", ops) == "%all-gather-done"
    assert resolve("fusion.3", ops) is None


# --- ROCm ---------------------------------------------------------------------------------------------------


def test_rocprof_records(tmp_path):
    document = {"rocprofiler-sdk-tool": [{
        "buffer_records": {
            "kernel_dispatch": [{"start_timestamp": 100, "end_timestamp": 250, "stream_id": {"handle": 1},
                                 "thread_id": 5, "correlation_id": {"internal": 9},
                                 "dispatch_info": {"kernel_id": 7, "grid_size": {"x": 2, "y": 1, "z": 1},
                                                   "workgroup_size": {"x": 256, "y": 1, "z": 1}}}],
            "memory_copy": [{"start_timestamp": 50, "end_timestamp": 80, "kind": "H2D"}],
            "hip_api": [{"start_timestamp": 10, "end_timestamp": 20, "operation": "hipLaunchKernel"}]},
        "kernel_symbols": [{"kernel_id": 7, "truncated_kernel_name": "mine"}],
        "metadata": {"pid": 12, "node": {"hostname": "host"}}}]}
    path = tmp_path / "r.json"
    path.write_text(json.dumps(document))
    data = RocprofParser.load_rocprof_data(path)
    kernel, = RocprofParser.extract_kernel_events(data)
    assert (kernel["name"], kernel["dur"], kernel["grid"], kernel["block"]) == ("mine", 150, (2, 1, 1), (256, 1, 1))
    assert RocprofParser.extract_memory_events(data)[0]["dur"] == 30
    assert [event["type"] for event in RocprofParser.extract_api_events(data)] == ["hip_api"]
    assert RocprofParser.get_metadata(data)["hostname"] == "host"
    with pytest.raises(ValueError, match="Not a valid rocprofv3 file"):
        path.write_text("{}")
        RocprofParser.load_rocprof_data(path)


def test_converted_perfetto_traces(tmp_path):
    path = tmp_path / "p.json"
    path.write_text('{"traceEvents": [{"ph": "X"}]}')
    assert PftraceParser.get_events(PftraceParser.load_pftrace_data(path)) == [{"ph": "X"}]
    for text, message in (("{}", "missing 'traceEvents'"), ('{"traceEvents": 1}', "must be a list")):
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            PftraceParser.load_pftrace_data(path)
    with pytest.raises(ValueError, match="expects .json"):
        PftraceParser.load_pftrace_data("x.pftrace")
