"""traces.py: small traces to damage, and traces of any size whose cost must not run away.

All are made here or are our own (tests/data); the same arguments give the same bytes.
"""
import gzip
import json
import pathlib

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
OWN = ["h200_streams_overlap.json.gz", "h200_cuda_graph_decode.json.gz", "rocm_timeline.json.gz",
       "rocprof_results.json.gz", "jax_shard_map.xplane.pb.gz", "jax_fp8.xplane.pb.gz"]
PERFETTO = ["pftrace/features.pftrace", "pftrace/rocprofv3_era3.pftrace"]


def own(name):
    return (DATA / name).read_bytes()


def unpacked(name):
    return gzip.decompress(own(name))


class Kineto:
    """Ops on one host thread and the kernels they launch."""

    def __init__(self):
        self.events, self.launches = [], 0

    def op(self, name, ts, dur, **args):
        self.events.append({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": ts,
                            "dur": dur, "args": args})

    def launch(self, name, ts, kernel_ts, dur, stream=7):
        self.launches += 1
        flow = {"id": self.launches, "cat": "ac2g", "name": "ac2g"}
        args = {"correlation": self.launches, "stream": stream, "device": 0}
        self.events += [
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": ts,
             "dur": 2, "args": {"correlation": self.launches}},
            {"ph": "s", "pid": 1, "tid": 1, "ts": ts, **flow},
            {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": stream, "ts": kernel_ts,
             "dur": dur, "args": args},
            {"ph": "f", "bp": "e", "pid": 0, "tid": stream, "ts": kernel_ts, **flow},
        ]

    def text(self, **head):
        return json.dumps({"schemaVersion": 1, **head, "traceEvents": self.events}, indent=1)


def matmul(rows):
    return {"Input Dims": [[rows, 16], [16, 32]], "Input type": ["float", "float"],
            "Input Strides": [[16, 1], [32, 1]], "Concrete Inputs": ["", ""]}


def small(op="aten::mm", kernel="gemm_kernel", module="nn.Module: Linear_0", count=6):
    trace = Kineto()
    for i in range(count):
        trace.events.append({"ph": "X", "cat": "python_function", "name": module, "pid": 1, "tid": 1,
                             "ts": 100 * i, "dur": 90, "args": {"Python id": i + 1}})
        trace.op(op, 100 * i + 1, 80, **matmul(8 + i % 2))
        trace.launch(kernel, 100 * i + 10, 100 * i + 20, 60)
    return trace.text()


def flat(count, streams, at_once, names):
    """Ops side by side, a kernel each: all at the same time, or one after the other."""
    trace = Kineto()
    for i in range(count):
        trace.op(f"aten::op{i % names}", 5 * i, 4)
        trace.launch(f"kernel{i % names}", 5 * i + 1, 10 * count + (0 if at_once else 5 * i), 4,
                     i % streams)
    return trace.text()


def nested(depth, kernels, distinct, op="aten::mm"):
    """Ops inside each other, and kernels that the innermost launches."""
    trace = Kineto()
    width = 10 * (depth + kernels)
    for i in range(depth):
        trace.op(op if op else f"op{i}", i, width - 2 * i, **matmul(i + 1 if distinct else 8))
    for k in range(kernels):
        trace.launch("kernel", depth + 1 + 5 * k, depth + 4 + 5 * k, 4)
    return trace.text()


def matmuls(count):
    """As many distinct calls."""
    trace = Kineto()
    for i in range(count):
        trace.op("aten::mm", 5 * i, 4, **matmul(i + 1))
        trace.launch(f"kernel{i}", 5 * i + 1, 5 * i + 2, 3)
    return trace.text()
