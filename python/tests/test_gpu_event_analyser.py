"""Busy, exposed and idle time of GPUs, and which kernels ran beside each other."""

import pytest

from TraceLens.TreePerf.gpu_event_analyser import GPUEventAnalyser, JaxGPUEventAnalyser, PytorchGPUEventAnalyser
from TraceLens.TreePerf.jax_analyses import JaxAnalyses


def event(uid, ts, dur, cat="kernel", name="gemm", **more):
    return {"UID": uid, "cat": cat, "name": name, "ts": ts, "dur": dur, **more}


def overlaps(*events):
    lists = GPUEventAnalyser(list(events)).get_gpu_event_lists()
    return {e["UID"]: e["overlapping_uids"] for e in lists["all_gpu"]}


@pytest.mark.parametrize("a, b, left", [
    ([], [(10, 20)], [(10, 20)]),
    ([(15, 16)], [(10, 20)], [(10, 15), (16, 20)]),
    ([(15, 16), (17, 18)], [(10, 20)], [(10, 15), (16, 17), (18, 20)]),
    ([(9, 12)], [(10, 20)], [(12, 20)]),
    ([(15, 22)], [(10, 20)], [(10, 15)]),
    ([(15, 17), (16, 18)], [(10, 20)], [(10, 15), (18, 20)]),
    ([(0, 30)], [(10, 20)], []),
    ([(15, 35)], [(10, 20), (30, 40)], [(10, 15), (35, 40)]),
    ([(12, 12)], [(10, 20)], [(10, 12), (12, 20)]),
    ([(1, 2)], [], []),
])
def test_subtraction(a, b, left):
    assert GPUEventAnalyser.subtract_intervalsA_from_B(a, b) == left


def test_kinds_of_gpu_events():
    events = [event(0, 0, 1, "cpu_op"), event(1, 0, 1), event(2, 0, 1, "gpu_memcpy"), event(3, 0, 1, "gpu_memset"),
              event(4, 0, 1, name="ncclDevKernel"), event(5, 0, 1, name="__amd_rocclr_copyBuffer"),
              event(6, 0, 1, name="__amd_rocclr_fillBufferAligned"), event(7, 0, 1, name=None)]
    lists = PytorchGPUEventAnalyser(events).get_gpu_event_lists()
    assert {key: [e["UID"] for e in value] for key, value in lists.items()} == {
        "all_gpu": [1, 2, 3, 4, 5, 6, 7], "computation": [1, 3, 6, 7], "communication": [4], "memcpy": [2, 5]}
    assert "t_end" not in events[0] and events[1]["t_end"] == 1


def test_times():
    events = [event(1, 0, 10), event(2, 5, 10, name="nccl"), event(3, 8, 12, "gpu_memcpy"), event(4, 30, 5),
              event(5, 36, 4)]
    assert GPUEventAnalyser(events).compute_metrics() == {
        "computation_time": 19, "exposed_comm_time": 5, "exposed_memcpy_time": 5, "busy_time": 29, "idle_time": 11,
        "total_time": 40, "total_comm_time": 10, "total_memcpy_time": 12}
    metrics = GPUEventAnalyser(events).compute_metrics(micro_idle_thresh_us=10)
    assert list(metrics)[4:6] == ["micro_idle_time", "macro_idle_time"]
    assert (metrics["micro_idle_time"], metrics["macro_idle_time"]) == (1, 10)
    table = GPUEventAnalyser(events).get_breakdown_df()
    assert list(table.columns) == ["type", "time ms", "percent"] and len(table) == 8
    assert table["time ms"][5] == 0.04 and table["percent"][5] == 100.0
    assert isinstance(GPUEventAnalyser(events[3:]).compute_metrics()["total_comm_time"], int)


def test_lists_that_cannot_be_computed_with():
    verify = GPUEventAnalyser.verify_dict_gpu_event_lists
    with pytest.raises(ValueError, match="Expected keys"):
        verify({"all_gpu": []})
    with pytest.raises(ValueError, match="does not have 'ts' or 't_end'"):
        verify({key: [{"ts": 1}] for key in GPUEventAnalyser.gpu_event_keys})
    with pytest.raises(ValueError, match="No GPU events found in the trace"):
        GPUEventAnalyser([event(1, 0, 1, "cpu_op")]).get_breakdown_df()


def test_a_subclass_sorts_events_in_its_own_way():
    class Mine(GPUEventAnalyser):
        def get_gpu_event_lists(self):
            events = [{"ts": 0, "t_end": 4}]
            return {"all_gpu": events, "computation": [], "communication": events, "memcpy": []}

    assert Mine(None).compute_metrics()["exposed_comm_time"] == 4


def test_what_runs_beside_what():
    assert overlaps(event(1, 0, 10), event(2, 5, 10), event(3, 20, 1)) == {1: {2}, 2: {1}, 3: set()}
    assert overlaps(event(1, 0, 10), event(2, 10, 5)) == {1: set(), 2: set()}  # one after the other
    assert overlaps(event(1, 0, 10), event(2, 9, 5), event(3, 13.5, 1)) == {1: {2}, 2: {1}, 3: set()}  # 1 us counts
    assert overlaps(event(1, 0, 10), event(2, 3, 0)) == {1: set(), 2: set()}


def test_one_stream_or_one_op_is_not_beside_itself():
    assert overlaps(event(1, 0, 9, args={"stream": 7}), event(2, 1, 9, args={"stream": 7})) == {1: set(), 2: set()}
    assert overlaps(event(1, 0, 9, args={"stream": 7}), event(2, 1, 9, args={})) == {1: {2}, 2: {1}}
    op, launch = event(10, 0, 9, "cpu_op"), event(11, 0, 9, "cuda_runtime", parent=10)
    assert overlaps(op, launch, event(1, 0, 9, parent=11), event(2, 1, 9, parent=11)) == {1: set(), 2: set()}
    other = event(12, 0, 9, "cpu_op")
    assert overlaps(op, launch, other, event(1, 0, 9, parent=11), event(2, 1, 9, parent=12)) == {1: {2}, 2: {1}}


def test_events_without_ids_go_by_their_position_and_old_answers_stay():
    raw = [{"cat": "kernel", "ts": 0, "dur": 9}, {"cat": "kernel", "ts": 1, "dur": 9, "overlapping_uids": {77}}]
    GPUEventAnalyser(raw).get_gpu_event_lists()
    assert raw[0]["overlapping_uids"] == set() and raw[1]["overlapping_uids"] == {77}
    raw = [{"cat": "kernel", "ts": 0, "dur": 9}, {"cat": "kernel", "ts": 1, "dur": 9}]
    GPUEventAnalyser(raw).get_gpu_event_lists()
    assert [e["overlapping_uids"] for e in raw] == [{1}, {0}]
    assert "UID" not in raw[0]


# --- JAX ----------------------------------------------------------------------------------------------------


def jax_event(pid, ts, dur, name="gemm", **more):
    return {"pid": pid, "tid": 1, "ts": ts, "dur": dur, "name": name,
            "process": {"process_name": f"host /device:GPU:{pid - 1}"}, **more}


@pytest.fixture
def two_gpus():
    return JaxGPUEventAnalyser([jax_event(1, 0, 100), jax_event(2, 0, 150, "ncclAllReduce"),
                                jax_event(2, 150, 50, "MemcpyD2H"), jax_event(2, 300, 10),
                                {"pid": 701, "tid": 1, "ts": 0, "dur": 9, "name": "host"},
                                {"pid": 1, "tid": 1, "name": "without time"}])


def test_gpus_of_a_jax_trace_are_processes(two_gpus):
    assert two_gpus.gpu_pids == [1, 2]
    lists = two_gpus.get_gpu_event_lists()
    assert [e["name"] for e in lists[701]["all_cpu"]] == ["host"]
    assert {key: len(events) for key, events in two_gpus.get_gpu_event_lists(2).items()} == {
        "all_gpu": 3, "computation": 1, "communication": 1, "memcpy": 1}
    assert two_gpus.get_gpu_event_lists(9) == {}
    assert two_gpus.compute_metrics(gpu_pid=1)["computation_time"] == 100
    assert two_gpus.get_average_metrics()["total_time"] == (100 + 310) / 2
    table = two_gpus.get_breakdown_df()
    assert list(table["gpu_pid"]) == [1] * 8 + [2] * 8
    assert list(two_gpus.get_breakdown_df_multigpu()) == [0, 1]
    assert two_gpus.get_average_df()["percent"][5] == 100.0
    assert two_gpus.get_average_df_verify_with_jax_analyses().equals(two_gpus.get_average_df())


def test_raw_jax_events_are_told_apart_by_metadata():
    events = [{"ph": "M", "pid": 5, "name": "process_name", "args": {"name": "h /device:GPU:4"}},
              {"ph": "X", "pid": 5, "tid": 1, "ts": 0, "dur": 3, "name": "k"}]
    assert JaxGPUEventAnalyser(events).compute_metrics(5)["busy_time"] == 3


def test_streams_of_a_gpu():
    stream = JaxAnalyses.default_gpu_event_filter
    assert stream({"tid": 500, "thread": {"thread_name": "Stream #3(Compute)"}})
    assert not stream({"tid": 1, "thread": {"thread_name": "XLA Ops"}})
    assert stream({"tid": 99}) and not stream({"tid": 100})
    assert JaxAnalyses.is_gpu_stream_pid({"pid": 100}) and not JaxAnalyses.is_gpu_stream_pid(101)


def test_time_by_kind_of_kernel(two_gpus):
    events = [jax_event(1, 0, 10, "Cijk_x"), jax_event(1, 0, 5, "Cijk_y"), jax_event(1, 0, 7, "loop_fusion_3"),
              jax_event(1, 0, 2, "x", args={"hlo_op": "te_fused_attn_forward_ffi.1"})]
    categories, others = JaxAnalyses.breakdown_compute_events(events, group_by_gpu=False)
    assert categories == {"GEMM": [2, 15], "Uncategorized Events": [1, 7], "TE": [1, 2]}
    assert others == {"loop_fusion_3": [1, 7]}
    table = JaxAnalyses.create_breakdown_df(categories, 24, num_gpus=2)
    assert list(table.index) == ["GEMM", "Uncategorized Events", "TE"]
    assert table.loc["GEMM", "time ms per gpu"] == 0.0075 and table.loc["TE", "percent"] == pytest.approx(100 / 12)
    averages, categories, others = JaxAnalyses.create_gpu_summary(two_gpus)
    assert categories.loc["GEMM", "count"] == 2 and others.empty and len(averages) == 8


def test_messages_of_a_dump_meet_their_times(tmp_path):
    dump = tmp_path / "dump.txt"
    dump.write_text("  value: <1 all-reduce-start.3 @0> size=4096: f32[1024]\nother\n"
                    "  value: <2 reduce-scatter.1.2 @0> size=8192,x: f32[2048]\n")
    messages = JaxAnalyses.process_communication_events_from_xla_dump(dump)
    assert messages == {"all-reduce-start": [["3", "4096", "f32"]], "reduce-scatter": [["1", "8192", "f32"]]}
    analyser = JaxGPUEventAnalyser([e for pid, time in ((1, 8), (2, 4)) for e in (
        jax_event(pid, 0, 1), jax_event(pid, 1, time, "nccl", args={"hlo_op": "all-reduce-start.3"}),
        jax_event(pid, 9, time, "nccl", args={"hlo_op": "reduce-scatter.1.2"}))])
    found = JaxAnalyses.process_communication_events_from_profile(analyser, messages)
    assert found["all-reduce"]["all-reduce-start.3"] == [4, 4096, 1, pytest.approx(4096 * 0.001 / 4)]
    assert found["reduce-scatter"]["reduce-scatter.1"] == [4, 8192, 1, pytest.approx(2 * 8192 * 0.001 / 4)]
    rows, bandwidth, count, time, ranges = JaxAnalyses.summarize_communication_data(found)["all-reduce"]
    assert rows["buffer_size_kb"][0] == 4.0 and count["count"][0] == 1 and time["percentage"][0] == 100.0
    assert ranges["Percentage of time"].sum() == 100.0 and len(bandwidth) == 1


def test_the_row_of_a_product():
    op = {"Batch": 2, "M": 4, "N": 8, "K": 16, "Beta": 0, "Type": "f32"}
    row = JaxAnalyses.gemm_perf_metrics({"name": "Cijk_Ailk_Bljk_x", "dur": 2.0}, op)
    assert row["GFLOPS"] == 2 * 2 * 4 * 8 * 16 / 1e9
    assert row["Data Moved (MB)"] == 2 * 4 * (64 + 128 + 32) / 2**20
    assert row["param: Op B"] == 2 and row["param: B"] == 1 and row["param: transpose"] == (False, False)
    assert JaxAnalyses.get_perf_model({"name": "loop_fusion"}) is None
