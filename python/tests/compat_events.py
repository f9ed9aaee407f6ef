"""Small traces for the tests of the stand-in: events as a profiler writes them."""

import gzip
import json


def event(cat, name, ts, dur, pid=1, tid=1, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}


def op(name, ts, dur, tid=1, dims=None, **args):
    if dims is not None:
        args.update({"Input Dims": dims, "Input type": ["float"] * len(dims),
                     "Input Strides": [[1] * len(each) for each in dims], "Concrete Inputs": [""] * len(dims)})
    return event("cpu_op", name, ts, dur, tid=tid, **args)


def launch(number, ts, kernel_ts, dur, kernel="gemm", stream=7, cat="kernel", tid=1, call="cudaLaunchKernel"):
    """A launch, what it launched, and the flow between them."""
    return [
        event("cuda_runtime", call, ts, 2, tid=tid, correlation=number),
        event(cat, kernel, kernel_ts, dur, pid=0, tid=stream, correlation=number, stream=stream),
        {"ph": "s", "cat": "ac2g", "name": "ac2g", "id": number, "pid": 1, "tid": tid, "ts": ts},
        {"ph": "f", "cat": "ac2g", "name": "ac2g", "id": number, "pid": 0, "tid": stream, "ts": kernel_ts},
    ]


def names(pid=1, process="python", **threads):
    found = [{"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": process}}]
    for tid, name in threads.items():
        found.append({"ph": "M", "name": "thread_name", "pid": pid, "tid": int(tid[1:]), "args": {"name": name}})
    return found


def training_step():
    """A module, two ops with one kernel each below it, and the backward op of the first."""
    return [
        *names(t1="main", t2="autograd"),
        event("python_function", "nn.Module: Net_0", 0, 200),
        event("python_function", "nn.Module: Linear_0", 5, 90),
        op("aten::linear", 10, 80, dims=[[8, 4], [16, 4]], **{"Sequence number": 5, "External id": 11}),
        op("aten::mm", 12, 60, dims=[[8, 4], [4, 16]], **{"External id": 12}),
        *launch(1, 20, 100, 50, "gemm_kernel"),
        op("aten::relu", 110, 40, dims=[[8, 16]], **{"External id": 13}),
        *launch(2, 120, 160, 10, "relu_kernel"),
        op("autograd::engine::evaluate_function: MmBackward0", 300, 50, tid=2, **{"Sequence number": 5}),
        op("aten::mm", 305, 40, tid=2, dims=[[4, 8], [8, 16]], **{"External id": 14}),
        *launch(3, 310, 340, 30, "gemm_backward", tid=2),
    ]


def write_trace(path, events, **members):
    with gzip.open(path, "wt") as file:
        json.dump({"schemaVersion": 1, **members, "traceEvents": events}, file)
    return str(path)
