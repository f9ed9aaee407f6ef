#!/usr/bin/env python3
"""Makes results of rocprofv3 (rocprofiler-sdk JSON) as a training step on two GPUs would give them.

    tools/make_rocprof_trace.py OUT.json[.gz] --dispatches 400000
    tools/make_rocprof_trace.py tests/data/rocprof_processes.json.gz --dispatches 60 --processes 2 --counters

The same arguments give the same bytes. tests/data/rocprof_results.json.gz has 120 dispatches; the
benchmark makes a large one. Processes run on the same GPUs, each with handles, kernel ids and counter
ids of its own; correlation ids, streams and threads are numbered alike in all of them.
"""
import argparse
import gzip
import json
import random

HIP = ["hipFree", "hipLaunchKernel", "hipModuleLaunchKernel", "hipMemcpyAsync", "hipStreamSynchronize"]
COPIES = ["NONE", "HOST_TO_HOST", "HOST_TO_DEVICE", "DEVICE_TO_HOST", "DEVICE_TO_DEVICE"]
KERNELS = [  # truncated, formatted, mangled; vector registers; mean duration in ns
    ("Cijk_Ailk_Bljk_BBS_MT64x32x256.kd", "Cijk_Ailk_Bljk_BBS_MT64x32x256",
     "Cijk_Ailk_Bljk_BBS_MT64x32x256.kd", 128, 90_000),
    ("vectorized_elementwise_kernel", "void at::native::vectorized_elementwise_kernel<4, F>(int)",
     "_ZN2at6native.kd", 16, 6_000),
    ("", "void attn_fwd<128, \"causal\">(Args)", "_Z8attn_fwd.kd", 256, 140_000),
    ("layer_norm_kernel", "void layer_norm_kernel<float>(int)", "_Z10layer_norm.kd", 32, 9_000),
    ("ncclDevKernel_Generic_1", "ncclDevKernel_Generic_1(Args)", "_Z4nccl.kd", 64, 200_000),
    ("__amd_rocclr_fillBufferAligned.kd", "__amd_rocclr_fillBufferAligned",
     "__amd_rocclr_fillBufferAligned.kd", 8, 3_000),
]
GPUS = [601, 602]
CPU = 600
COUNTERS = ["SQ_WAVES", "FETCH_SIZE"]


def handle_of(agent_number, process):
    return {"handle": agent_number + 100 * process}


def kernel_id(kernel, process):
    return 1 + (kernel + process) % len(KERNELS)


def agent(number_on_node, kind, number, process):
    found = {"size": 312, "id": handle_of(number_on_node, process), "type": kind,
             "node_id": number_on_node - CPU, "logical_node_id": number_on_node - CPU,
             "logical_node_type_id": number}
    if kind == 2:
        found |= {"name": "gfx942", "product_name": "AMD Instinct MI300X", "cu_count": 304,
                  "wave_front_size": 64, "lds_size_in_kb": 64}
    return found


def symbols(process):
    yield {"size": 0, "kernel_id": 0, "code_object_id": 0, "kernel_name": "",
           "formatted_kernel_name": "0", "demangled_kernel_name": "0", "truncated_kernel_name": "0"}
    for kernel, (truncated, formatted, mangled, registers, _) in enumerate(KERNELS):
        yield {"size": 88, "kernel_id": kernel_id(kernel, process), "code_object_id": 1, "kernel_name": mangled,
               "formatted_kernel_name": formatted, "demangled_kernel_name": formatted + " [clone .kd]",
               "truncated_kernel_name": truncated, "sgpr_count": 48, "arch_vgpr_count": registers,
               "accum_vgpr_count": 0, "group_segment_size": 1024, "private_segment_size": 0}


def call(operation, thread, start, duration, correlation):
    return {"size": 72, "kind": 1, "operation": operation, "thread_id": thread,
            "correlation_id": {"internal": correlation, "external": 0}, "start_timestamp": start,
            "end_timestamp": start + duration}


def records(count, process):
    """Dispatches, copies, calls and markers of `count` launches, host and GPUs running on by turns."""
    dice = random.Random(4 + process)
    dispatches, copies, calls, markers = [], [], [], []
    host, busy = 1_000_000_000, {gpu: 1_000_000_000 for gpu in GPUS}
    for number in range(1, count + 1):
        gpu = GPUS[number % 2]
        host += dice.randrange(2_000, 90_000)
        took = dice.randrange(1_500, 9_000)
        kernel = dice.randrange(len(KERNELS))
        calls.append(call(2 if kernel == 0 else 1, 77, host, took, number))
        start = max(busy[gpu], host + dice.randrange(1_000, 20_000))
        duration = max(500, int(dice.gauss(1, 0.2) * KERNELS[kernel][4]))
        dispatches.append({
            "size": 184, "kind": 3, "operation": 2, "thread_id": 77,
            "correlation_id": {"internal": number, "external": 0}, "start_timestamp": start,
            "end_timestamp": start + duration,
            "dispatch_info": {
                "size": 72, "agent_id": handle_of(gpu, process), "queue_id": {"handle": gpu - CPU},
                "kernel_id": kernel_id(kernel, process), "dispatch_id": number, "private_segment_size": 0,
                "group_segment_size": 1024, "workgroup_size": {"x": 256, "y": 1, "z": 1},
                "grid_size": {"x": 256 * dice.choice([64, 128]), "y": 1, "z": 2}},
            "stream_id": {"handle": 1 + kernel % 2}})
        busy[gpu] = start + duration
        host += took
        if number % 20 == 0:
            size = 4096 * dice.randrange(1, 5)
            calls.append(call(3, 77, host, 4_000, count + number))
            copies.append({
                "size": 96, "kind": 2, "operation": 2 + number // 20 % 3, "thread_id": 77,
                "correlation_id": {"internal": count + number, "external": 0},
                "start_timestamp": host + 5_000, "end_timestamp": host + 5_000 + size // 20,
                "src_agent_id": handle_of(CPU if number // 20 % 3 == 0 else gpu, process),
                "dst_agent_id": handle_of(CPU if number // 20 % 3 == 1 else gpu, process),
                "bytes": size,
                "stream_id": {"handle": 1}})
            markers.append(call(1, 77, host - 50_000, 60_000, 2 * count + number))
            host += 4_000
    return dispatches, copies, calls, markers, max(busy.values())


def counted(dispatches, process):
    """What two counters gave for every other dispatch; the waves were counted in two engines."""
    for number, dispatch in enumerate(dispatches[::2]):
        yield {
            "thread_id": dispatch["thread_id"],
            "dispatch_data": {"size": 128, "correlation_id": dispatch["correlation_id"],
                              "start_timestamp": dispatch["start_timestamp"],
                              "end_timestamp": dispatch["end_timestamp"],
                              "dispatch_info": dispatch["dispatch_info"]},
            "records": [{"counter_id": {"handle": 10 * process + counter}, "value": value}
                        for counter, value in ((0, 64.0), (0, 32.0 + number), (1, 1.5 * number))]}


def process_of(process, options):
    dispatches, copies, calls, markers, end = records(options.dispatches, process)
    counters = COUNTERS if options.counters else []
    return {
        "metadata": {"node": {"hostname": "node-1"}, "pid": 70 + process, "init_time": 900_000_000,
                     "fini_time": end + 5_000_000, "command": ["python3", "train.py"], "config": {}},
        "agents": [agent(CPU, 1, 0, process),
                   *(agent(gpu, 2, gpu - GPUS[0], process) for gpu in GPUS)],
        "counters": [{"id": {"handle": 10 * process + number}, "name": name}
                     for number, name in enumerate(counters)],
        "strings": {
            "buffer_records": [
                {"kind": "NONE", "operations": []}, {"kind": "HIP_RUNTIME_API", "operations": HIP},
                {"kind": "MEMORY_COPY", "operations": [f"MEMORY_COPY_{way}" for way in COPIES]},
                {"kind": "KERNEL_DISPATCH", "operations": ["NONE", "ENQUEUE", "COMPLETE"]}],
            "marker_api": [{"key": marker["correlation_id"]["internal"], "value": f"step {number}"}
                           for number, marker in enumerate(markers)]},
        "code_objects": [], "kernel_symbols": list(symbols(process)), "host_functions": [],
        "summary": [],
        "callback_records": {
            "counter_collection": list(counted(dispatches, process)) if counters else []},
        "buffer_records": {"kernel_dispatch": dispatches, "hip_api": calls, "hsa_api": [],
                           "marker_api": markers, "rccl_api": [], "memory_copy": copies,
                           "memory_allocation": [], "scratch_memory": []}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--dispatches", type=int, default=120, help="of each process")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--counters", action="store_true", help="with hardware counters")
    options = parser.parse_args()
    document = {"rocprofiler-sdk-tool": [process_of(process, options)
                                         for process in range(options.processes)]}
    # Without a name or time in its header the packed file depends on nothing but the text.
    text = json.dumps(document, separators=(",", ":")).encode()
    with open(options.out, "wb") as file:
        file.write(gzip.compress(text, 6, mtime=0) if options.out.endswith(".gz") else text)


if __name__ == "__main__":
    main()
