"""make_databases.py: a Kineto trace of ours as the databases that other profilers would have written.

    make_databases.py TRACE.json[.gz] FOLDER     # nsys.sqlite, rocpd.db, rpd.rpd

The same calls, kernels, copies, fills and op ranges, in the tables of Nsight Systems (schema 3.16), rocprofv3
(schema 3) and rpd_tracer (schema 3), as far as the reader of each looks at them.
"""
import decimal
import gzip
import json
import pathlib
import sqlite3
import sys

GPU = ("kernel", "gpu_memcpy", "gpu_memset")
CALLS = ("cuda_runtime", "cuda_driver")


def ns(microseconds):
    return int((decimal.Decimal(microseconds) * 1000).to_integral_value())


class Run:
    """What a recording holds, with times in nanoseconds."""

    def __init__(self, path):
        with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
            events = json.load(file, parse_float=decimal.Decimal)["traceEvents"]
        whole = [e for e in events if e.get("ph") == "X" and "dur" in e]
        self.gpu = [self.event(e) for e in whole if e.get("cat") in GPU]
        self.calls = [self.event(e) for e in whole if e.get("cat") in CALLS]
        self.ops = [self.event(e) for e in whole if e.get("cat") == "cpu_op"]
        self.pid = self.calls[0]["pid"] if self.calls else 1

    @staticmethod
    def event(e):
        args = e.get("args", {})
        return {"name": e["name"], "cat": e["cat"], "start": ns(e["ts"]), "end": ns(e["ts"]) + ns(e["dur"]),
                "pid": e["pid"], "tid": e["tid"], "args": args, "correlation": args.get("correlation"),
                "bytes": int(args.get("bytes", args.get("Bytes", 0)) or 0)}


def op_text(op):
    """What emit_nvtx would have written: tensors only, lists flattened."""
    def shapes(dims):
        for dim in dims:
            if dim and isinstance(dim[0], list):
                yield from shapes(dim)
            else:
                yield dim
    text = op["name"]
    if "Sequence number" in op["args"]:
        text += f", seq = {op['args']['Sequence number']}"
    if "Input Dims" in op["args"]:
        text += f", sizes = {list(shapes(op['args']['Input Dims']))}"
    return text


class Strings:
    def __init__(self):
        self.ids = {}

    def __call__(self, text):
        return self.ids.setdefault(text, len(self.ids) + 1)

    def rows(self):
        return [(number, text) for text, number in self.ids.items()]


def create(path, script):
    pathlib.Path(path).unlink(missing_ok=True)
    database = sqlite3.connect(path)
    database.executescript(script)
    return database


def finish(database):
    database.commit()
    database.close()


def write_nsys(run, path):
    kind = "CUPTI_ACTIVITY_KIND_"
    head = "start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, " \
           "correlationId INTEGER, globalPid INTEGER"
    database = create(path, f"""
        CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
        CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
        CREATE TABLE {kind}RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER,
                                    correlationId INTEGER, nameId INTEGER, returnValue INTEGER, callchainId INTEGER);
        CREATE TABLE {kind}KERNEL ({head}, demangledName INTEGER, shortName INTEGER, gridX INTEGER, gridY INTEGER,
                                   gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER,
                                   registersPerThread INTEGER, staticSharedMemory INTEGER,
                                   dynamicSharedMemory INTEGER, localMemoryPerThread INTEGER, graphNodeId INTEGER);
        CREATE TABLE {kind}MEMCPY ({head}, bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER);
        CREATE TABLE {kind}MEMSET ({head}, bytes INTEGER, value INTEGER, memKind INTEGER);
        CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId INTEGER,
                                  domainId INTEGER, globalTid INTEGER, uint64Value INTEGER);
        CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, smCount INTEGER);
        INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.16');
        INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H200', 132);
    """)
    strings = Strings()
    pid = (run.pid & 0xFFFFFF) << 24

    def thread(event):
        return pid | (event["tid"] & 0xFFFFFF)

    for call in run.calls:
        database.execute(f"INSERT INTO {kind}RUNTIME VALUES (?,?,?,?,?,?,0,NULL)",
                         (call["start"], call["end"], int(call["cat"] == "cuda_driver"), thread(call),
                          call["correlation"], strings(call["name"] + "_v7000")))
    for event in run.gpu:
        args = event["args"]
        row = (event["start"], event["end"], args.get("device", 0), 1, args.get("stream", 0), event["correlation"], pid)
        if event["cat"] == "kernel":
            name = strings(event["name"])
            more = (name, name, *args.get("grid", (1, 1, 1)), *args.get("block", (1, 1, 1)),
                    args.get("registers per thread", 0), args.get("shared memory", 0), 0, 0, None)
            table = "KERNEL"
        elif event["cat"] == "gpu_memcpy":
            copy = 1 if "HtoD" in event["name"] else 2 if "DtoH" in event["name"] else 8
            more, table = (event["bytes"], copy, 2 if copy == 8 else 0, 2), "MEMCPY"
        else:
            more, table = (event["bytes"], 0, 2), "MEMSET"
        database.execute(f"INSERT INTO {kind}{table} VALUES ({','.join('?' * (len(row) + len(more)))})", row + more)
    for i, op in enumerate(run.ops):  # texts by number and inline
        text = op_text(op)
        database.execute("INSERT INTO NVTX_EVENTS VALUES (?,?,59,?,?,0,?,NULL)",
                         (op["start"], op["end"], None if i % 2 else text, strings(text) if i % 2 else None, thread(op)))
    database.executemany("INSERT INTO StringIds VALUES (?,?)", strings.rows())
    finish(database)


def write_rocpd(run, path, guid="0198-77", pid=None, environment=None):
    suffix = "_" + guid.replace("-", "_")
    pid = run.pid if pid is None else pid

    def table(name):
        return f'"rocpd_{name}{suffix}"'

    database = create(path, f"""
        CREATE TABLE {table("metadata")} (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
        CREATE TABLE {table("string")} (id INTEGER PRIMARY KEY, guid TEXT, string TEXT);
        CREATE TABLE {table("info_node")} (id INTEGER PRIMARY KEY, guid TEXT, hash INTEGER, machine_id TEXT,
                                           system_name TEXT, hostname TEXT);
        CREATE TABLE {table("info_process")} (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, ppid INTEGER, pid INTEGER,
                                              command TEXT, environment TEXT, extdata JSONB);
        CREATE TABLE {table("info_thread")} (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER,
                                             name TEXT);
        CREATE TABLE {table("info_agent")} (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, type TEXT,
                                            absolute_index INTEGER, name TEXT, product_name TEXT, extdata JSONB);
        CREATE TABLE {table("info_kernel_symbol")} (id INTEGER PRIMARY KEY, guid TEXT, kernel_name TEXT,
                                                    display_name TEXT, sgpr_count INTEGER, arch_vgpr_count INTEGER,
                                                    accum_vgpr_count INTEGER);
        CREATE TABLE {table("event")} (id INTEGER PRIMARY KEY, guid TEXT, category_id INTEGER, stack_id INTEGER,
                                       parent_stack_id INTEGER, correlation_id INTEGER, call_stack JSONB,
                                       line_info JSONB, extdata JSONB);
        CREATE TABLE {table("region")} (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER,
                                        start BIGINT, end BIGINT, name_id INTEGER, event_id INTEGER, extdata JSONB);
        CREATE TABLE {table("kernel_dispatch")} (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER,
            agent_id INTEGER, kernel_id INTEGER, dispatch_id INTEGER, queue_id INTEGER, stream_id INTEGER, start BIGINT,
            end BIGINT, private_segment_size INTEGER, group_segment_size INTEGER, workgroup_size_x INTEGER,
            workgroup_size_y INTEGER, workgroup_size_z INTEGER, grid_size_x INTEGER, grid_size_y INTEGER,
            grid_size_z INTEGER, region_name_id INTEGER, event_id INTEGER, extdata JSONB);
        CREATE TABLE {table("memory_copy")} (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER,
            start BIGINT, end BIGINT, name_id INTEGER, dst_agent_id INTEGER, dst_address INTEGER, src_agent_id INTEGER,
            src_address INTEGER, size INTEGER, queue_id INTEGER, stream_id INTEGER, region_name_id INTEGER,
            event_id INTEGER, extdata JSONB);
        CREATE VIEW rocpd_kernel_dispatch AS SELECT * FROM {table("kernel_dispatch")};
        INSERT INTO {table("metadata")} VALUES (1, 'schema_version', '3'), (2, 'guid', '{guid}');
        INSERT INTO {table("info_node")} VALUES (1, '{guid}', 1, 'm1', 'Linux', 'node-a');
        INSERT INTO {table("info_process")} VALUES ({pid}, '{guid}', 1, 1, {pid}, 'train', '{json.dumps(environment or {"SECRET": "1"})}', '{{}}');
        INSERT INTO {table("info_agent")} VALUES (1, '{guid}', 1, {pid}, 'CPU', 0, 'cpu', 'EPYC', '{{}}');
    """)
    strings, symbols, agents = Strings(), Strings(), {}
    events = 0

    def event(category, stack, extdata="{}"):
        nonlocal events
        events += 1
        database.execute(f"INSERT INTO {table('event')} VALUES (?,?,?,?,0,0,'[]','[]',?)",
                         (events, guid, strings(category), stack, extdata))
        return events

    def agent(device):
        if device not in agents:
            agents[device] = len(agents) + 2
            database.execute(f"INSERT INTO {table('info_agent')} VALUES (?,?,1,?,'GPU',?,'gfx942','MI300X','{{}}')",
                             (agents[device], guid, pid, device))
        return agents[device]

    tids = {}
    for i, (kind, host) in enumerate([("call", c) for c in run.calls] + [("op", o) for o in run.ops]):
        if kind == "call":
            category = "HIP_RUNTIME_API" if host["cat"] == "cuda_runtime" else "HSA_CORE_API"
            name, facts = host["name"], event(category, host["correlation"])
        else:
            name = "roctxThreadRangeA"
            facts = event("MARKER_CORE_RANGE_API", None, json.dumps({"message": op_text(host)}))
        tids.setdefault(host["tid"], len(tids) + 1)
        database.execute(f"INSERT INTO {table('region')} VALUES (?,?,1,?,?,?,?,?,?,'{{}}')",
                         (i + 1, guid, pid, tids[host["tid"]], host["start"], host["end"], strings(name), facts))
    for i, work in enumerate(run.gpu):
        args = work["args"]
        device, stream = args.get("device", 0), args.get("stream", 0)
        if work["cat"] == "gpu_memcpy":
            way = "HOST_TO_DEVICE" if "HtoD" in work["name"] else "DEVICE_TO_HOST" if "DtoH" in work["name"] else "DEVICE_TO_DEVICE"
            database.execute(f"INSERT INTO {table('memory_copy')} VALUES (?,?,1,?,NULL,?,?,?,?,0,?,1.8e19,?,NULL,?,NULL,?,'{{}}')",
                             (i + 1, guid, pid, work["start"], work["end"], strings("MEMORY_COPY_" + way),
                              1 if way == "DEVICE_TO_HOST" else agent(device),
                              1 if way == "HOST_TO_DEVICE" else agent(device), work["bytes"], stream,
                              event("MEMORY_COPY", work["correlation"])))
            continue
        block, grid = args.get("block", [1, 1, 1]), args.get("grid", [1, 1, 1])
        database.execute(f"INSERT INTO {table('kernel_dispatch')} VALUES ({','.join('?' * 23)})",
                         (i + 1, guid, 1, pid, None, agent(device), symbols(work["name"]), i, 0, stream, work["start"],
                          work["end"], 0, args.get("shared memory", 0), *block,
                          *(g * b for g, b in zip(grid, block)), None, event("KERNEL_DISPATCH", work["correlation"]), "{}"))
    database.executemany(f"INSERT INTO {table('info_kernel_symbol')} VALUES (?,'{guid}',?,?,16,32,0)",
                         [(number, "mangled", text) for number, text in symbols.rows()])
    database.executemany(f"INSERT INTO {table('info_thread')} VALUES (?,'{guid}',1,{pid},?,'')",
                         [(number, tid) for tid, number in tids.items()])
    database.executemany(f"INSERT INTO {table('string')} VALUES (?,'{guid}',?)", strings.rows())
    finish(database)


def write_rpd(run, path):
    database = create(path, """
        CREATE TABLE rocpd_metadata (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
        CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string TEXT);
        CREATE TABLE rocpd_ustring (id INTEGER PRIMARY KEY, string TEXT);
        CREATE TABLE rocpd_api (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, start INTEGER, end INTEGER,
                                apiName_id INTEGER, args_id INTEGER, category_id INTEGER, domain_id INTEGER);
        CREATE TABLE rocpd_op (id INTEGER PRIMARY KEY, gpuId INTEGER, queueId INTEGER, sequenceId INTEGER, start INTEGER,
                               end INTEGER, description_id INTEGER, opType_id INTEGER);
        CREATE TABLE rocpd_api_ops (id INTEGER PRIMARY KEY, api_id INTEGER, op_id INTEGER);
        CREATE TABLE rocpd_copyapi (api_ptr_id INTEGER PRIMARY KEY, stream TEXT, size INTEGER);
        INSERT INTO rocpd_metadata (tag, value) VALUES ('schema_version', '3');
    """)
    strings, texts = Strings(), Strings()
    base = 1 << 32  # as of a second process
    by_correlation = {}
    for i, call in enumerate(run.calls):
        by_correlation[call["correlation"]] = base + i
        name = call["name"].replace("cuda", "hip")
        database.execute("INSERT INTO rocpd_api VALUES (?,?,?,?,?,?,?,0,0)",
                         (base + i, run.pid, call["tid"], call["start"], call["end"], strings(name), texts("")))
    for i, op in enumerate(run.ops):
        database.execute("INSERT INTO rocpd_api VALUES (?,?,?,?,?,?,?,0,0)",
                         (base + len(run.calls) + i, run.pid, op["tid"], op["start"], op["end"], strings("UserMarker"),
                          texts(op_text(op))))
    for i, work in enumerate(run.gpu):
        kind = {"kernel": "KernelExecution", "gpu_memcpy": "CopyDeviceToDevice", "gpu_memset": "FillBuffer"}[work["cat"]]
        args = work["args"]
        database.execute("INSERT INTO rocpd_op VALUES (?,?,?,?,?,?,?,?)",
                         (base + i, args.get("device", 0), args.get("stream", 0), i, work["start"], work["end"],
                          strings(work["name"] if work["cat"] == "kernel" else ""), strings(kind)))
        call = by_correlation.get(work["correlation"])
        if call is not None:
            database.execute("INSERT INTO rocpd_api_ops (api_id, op_id) VALUES (?,?)", (call, base + i))
            if work["cat"] == "gpu_memcpy":
                database.execute("INSERT OR REPLACE INTO rocpd_copyapi VALUES (?,'0x0',?)", (call, work["bytes"]))
    database.executemany("INSERT INTO rocpd_string VALUES (?,?)", strings.rows())
    database.executemany("INSERT INTO rocpd_ustring VALUES (?,?)", texts.rows())
    finish(database)


def main():
    trace, folder = sys.argv[1:3]
    run = Run(trace)
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    write_nsys(run, f"{folder}/nsys.sqlite")
    write_rocpd(run, f"{folder}/rocpd.db")
    write_rpd(run, f"{folder}/rpd.rpd")


if __name__ == "__main__":
    main()
