#!/usr/bin/env python3
"""Makes a synthetic trace of a serving run: steps with annotations, ops, launches and kernels.

    tests/data/make_serving.py --out serve.json.gz [--steps 96] [--layers 2] [--conc 8]
                               [--style vllm|vllm_native|sglang|sglang_native|atom|atom_native|none]
                               [--prefill-every 8] [--ramp 8] [--python] [--grow 0] [--seed 1]

The number of requests climbs to --conc over --ramp steps, stays, and falls again at the end. Every
--prefill-every steps one request is new (a prompt of 64 tokens) and the step is a mixed one. With
--grow N contexts grow by a token in each step, and attention takes N ns for each of them. Times are
whole nanoseconds, so that sums are exact. Events stand in the order of the profiler: ops, Python
frames, runtime calls and their flows, GPU events, names. Between two steps there is an op, and a
second thread works beside. Same arguments, same bytes.
"""
import argparse
import gzip
import json
import random

HOST, MAIN, HELPER, STREAM = 100, 100, 101, 7
KERNELS = (("aten::mm", "gemm_kernel"), ("vllm::unified_attention_with_output", "paged_attention"),
           ("aten::mul", "elementwise_kernel"))


class Run:
    def __init__(self, options):
        self.options = options
        self.random = random.Random(options.seed)
        self.sections = {name: [] for name in ("ops", "frames", "calls", "gpu", "names")}
        self.host_ns = 6_520_618_853_487_683
        self.gpu_ns = self.host_ns + 50_000
        self.next_id = 1
        self.keys = 512  # of a running request

    def add(self, section, **event):
        self.sections[section].append(event)

    def slice(self, section, cat, name, tid, start, dur, args, pid=HOST):
        self.add(section, ph="X", cat=cat, name=name, pid=pid, tid=tid, ts=start / 1000,
                 dur=dur / 1000, args=args)

    def op(self, name, kernel, tokens, tid=MAIN, more_ns=0):
        """An op that launches one kernel, which takes `more_ns` longer than its tokens do."""
        number, start = self.next_id, self.host_ns
        self.next_id += 1
        dims = [[tokens, 1024], [1024, 1024]]
        self.slice("ops", "cpu_op", name, tid, start, 9_000,
                   {"External id": number, "Record function id": 0, "Ev Idx": number,
                    "Input Dims": dims, "Input type": ["c10::BFloat16", "c10::BFloat16"],
                    "Input Strides": [[1024, 1], [1, 1024]], "Concrete Inputs": ["", ""]})
        self.slice("calls", "cuda_runtime", "cudaLaunchKernel", tid, start + 2_000, 4_000,
                   {"External id": number, "cbid": 211, "correlation": number})
        dur = 3_000 + tokens * 11 + self.random.randrange(500) + more_ns
        self.gpu_ns = max(self.gpu_ns, start + 8_000) + 500
        self.slice("gpu", "kernel", kernel, STREAM, self.gpu_ns, dur,
                   {"External id": number, "queued": 0, "device": 0, "context": 1, "stream": STREAM,
                    "correlation": number, "registers per thread": 96, "shared memory": 49152,
                    "grid": [tokens, 8, 1], "block": [256, 1, 1]}, pid=0)
        for phase, pid, where, at in (("s", HOST, tid, start + 2_000), ("f", 0, STREAM, self.gpu_ns)):
            self.add("calls", ph=phase, id=number, pid=pid, tid=where, ts=at / 1000, cat="ac2g",
                     name="ac2g", bp="e")
        self.gpu_ns += dur
        self.host_ns += 10_000

    def annotation(self, new, old):
        """Of `new` requests with 64 tokens, and `old` ones with one each and all their keys."""
        style, sq, sk = self.options.style, 64 * new, 64 * new
        c = (sq, sk, 4096 * new, 4096 * new)
        g = (old, self.keys * old, old, self.keys * old)
        sums = "(sq{}sk{}sqsq{}sqsk{})"
        if style == "vllm":
            return (f"execute_{sq + old}_context_{new}{sums.format(*c)}"
                    f"_generation_{old}{sums.format(*g)}")
        if style == "vllm_native":
            return f"execute_context_{new}({sq})_generation_{old}({old})"
        mode = "DECODE" if not new else "MIXED" if old else "EXTEND"
        if style == "sglang":
            keys = ("sq", "sk", "sqsq", "sqsk")
            pairs = " ".join([f"c_{k}={v}" for k, v in zip(keys, c)]
                             + [f"g_{k}={v}" for k, v in zip(keys, g)])
            return f"step[{mode} bs={new + old} c={new} g={old} {pairs}]"
        if style == "sglang_native":
            return f"step[{mode} bs={new + old} toks={sq + old}]"
        body = f"bs={new + old} tok={sq + old} p={new} d={old}"
        if style == "atom":
            body += f" sqsq={c[2] + g[2]} sqsk={c[3] + g[3]} sk={c[1] + g[1]}"
        return f"decode[{body}]" if old else f"prefill[{body}]"

    def step(self, index, new, old):
        start, gpu_start, tokens = self.host_ns, None, 64 * new + old
        self.host_ns += 5_000
        for layer in range(self.options.layers):
            layer_start = self.host_ns
            for name, kernel in KERNELS:
                grows = self.options.grow * (64 * new + self.keys * old)
                self.op(name, kernel, tokens, more_ns=grows if "attention" in kernel else 0)
            if self.options.python:
                for depth in range(6):
                    self.slice("frames", "python_function", f"model.py({10 + depth}): forward_{depth}",
                               MAIN, layer_start - 600 + 100 * depth,
                               self.host_ns - layer_start + 600 - 200 * depth,
                               {"Python parent id": depth, "Python id": depth + 1, "Ev Idx": layer})
        self.op("aten::copy_", "copy_kernel", 1, tid=HELPER)
        if self.options.style != "none":
            self.slice("ops", "user_annotation", self.annotation(new, old), MAIN, start,
                       self.host_ns - start, {"External id": self.next_id})
            self.slice("gpu", "gpu_user_annotation", self.annotation(new, old), STREAM,
                       start + 20_000, self.host_ns - start, {"External id": self.next_id}, pid=0)
            self.next_id += 1
        elif self.options.python:
            self.slice("frames", "python_function", "engine.py(7): step", MAIN, start,
                       self.host_ns - start, {"Python id": index})
        self.host_ns += 2_000
        self.op("aten::argmax", "reduce_kernel", tokens)  # sampling, between two steps
        self.host_ns += self.random.randrange(3_000)

    def write(self):
        steps, ramp, conc = self.options.steps, self.options.ramp, self.options.conc
        for index in range(steps):
            near_end = min(index + 1, steps - index)
            requests = conc if near_end > ramp else max(1, conc * near_end // (ramp + 1))
            new = 1 if index % self.options.prefill_every == 0 else 0
            self.keys += 1 if self.options.grow else 0
            self.step(index, new, requests - new)
        for pid, name in ((HOST, "python3"), (0, "GPU 0")):
            self.add("names", name="process_name", ph="M", ts=self.host_ns / 1000, pid=pid, tid=0,
                     args={"name": name})
        self.add("names", name="thread_name", ph="M", ts=self.host_ns / 1000, pid=HOST, tid=MAIN,
                 args={"name": "engine"})
        head = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H200"}],
                "displayTimeUnit": "ms", "baseTimeNanoseconds": 1_700_000_000_000_000_000}
        # As the profiler writes: one event after another, the members of the file around them.
        texts = [json.dumps(e) for section in self.sections.values() for e in section]
        text = json.dumps(head)[:-1] + ', "traceEvents": [\n' + ",\n".join(texts) + '\n],\n"traceName": "serve.json"}\n'
        data = text.encode()
        if self.options.out.endswith(".gz"):
            data = gzip.compress(data, 6, mtime=0)
        with open(self.options.out, "wb") as file:
            file.write(data)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", required=True)
    parser.add_argument("--steps", type=int, default=96)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--conc", type=int, default=8)
    parser.add_argument("--style", default="vllm")
    parser.add_argument("--prefill-every", type=int, default=8)
    parser.add_argument("--ramp", type=int, default=8)
    parser.add_argument("--python", action="store_true")
    parser.add_argument("--grow", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    Run(parser.parse_args()).write()


if __name__ == "__main__":
    main()
