"""make_large.py: a database as large as one likes, with rows as the profiler writes them, to measure readers with.

    make_large.py rocpd|nsight|rpd ROWS FILE      # ROWS launches: a call, a GPU event and what goes with them each

One dispatch of rocpd with its call and two events takes about 420 bytes, a launch of Nsight Systems 200, of rpd 150.
"""
import sqlite3
import sys

GUID = "0198c0de-0000-7000-8000-000000000001"
NAMES = [f"void gemm_kernel_{i}<float, {i % 7}>(float*, int)" for i in range(200)]


def open_new(path, script):
    database = sqlite3.connect(path, isolation_level=None)
    database.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA page_size=4096;" + script)
    database.execute("BEGIN")
    return database


def rocpd(rows, path):
    s = "_" + GUID.replace("-", "_")
    database = open_new(path, f"""
        CREATE TABLE "rocpd_metadata{s}" (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
        CREATE TABLE "rocpd_string{s}" (id INTEGER PRIMARY KEY, guid TEXT, string TEXT UNIQUE);
        CREATE TABLE "rocpd_info_node{s}" (id INTEGER PRIMARY KEY, guid TEXT, hash INTEGER, machine_id TEXT, system_name TEXT, hostname TEXT);
        CREATE TABLE "rocpd_info_process{s}" (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, ppid INTEGER, pid INTEGER, init BIGINT, fini BIGINT,
            start BIGINT, end BIGINT, command TEXT, environment JSONB, extdata JSONB);
        CREATE TABLE "rocpd_info_thread{s}" (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, ppid INTEGER, pid INTEGER, tid INTEGER, name TEXT);
        CREATE TABLE "rocpd_info_agent{s}" (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, type TEXT, absolute_index INTEGER, name TEXT, extdata JSONB);
        CREATE TABLE "rocpd_info_kernel_symbol{s}" (id INTEGER PRIMARY KEY, guid TEXT, kernel_name TEXT, display_name TEXT, sgpr_count INTEGER,
            arch_vgpr_count INTEGER, accum_vgpr_count INTEGER, extdata JSONB);
        CREATE TABLE "rocpd_event{s}" (id INTEGER PRIMARY KEY, guid TEXT, category_id INTEGER, stack_id INTEGER, parent_stack_id INTEGER,
            correlation_id INTEGER, call_stack JSONB, line_info JSONB, extdata JSONB);
        CREATE TABLE "rocpd_region{s}" (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, start BIGINT, end BIGINT,
            name_id INTEGER, event_id INTEGER, extdata JSONB);
        CREATE TABLE "rocpd_kernel_dispatch{s}" (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, agent_id INTEGER,
            kernel_id INTEGER, dispatch_id INTEGER, queue_id INTEGER, stream_id INTEGER, start BIGINT, end BIGINT, private_segment_size INTEGER,
            group_segment_size INTEGER, workgroup_size_x INTEGER, workgroup_size_y INTEGER, workgroup_size_z INTEGER, grid_size_x INTEGER,
            grid_size_y INTEGER, grid_size_z INTEGER, region_name_id INTEGER, event_id INTEGER, extdata JSONB);
        INSERT INTO "rocpd_metadata{s}" VALUES (1, 'schema_version', '3'), (2, 'guid', '{GUID}');
        INSERT INTO "rocpd_string{s}" VALUES (1, '{GUID}', 'HIP_RUNTIME_API'), (2, '{GUID}', 'KERNEL_DISPATCH'), (3, '{GUID}', 'hipLaunchKernel'), (4, '{GUID}', '');
        INSERT INTO "rocpd_info_node{s}" VALUES (1, '{GUID}', 1, 'm', 'Linux', 'node-a');
        INSERT INTO "rocpd_info_process{s}" VALUES (4101, '{GUID}', 1, 1, 4101, 0, 1, 0, 1, 'train', '{{"RANK":"0"}}', '{{}}');
        INSERT INTO "rocpd_info_thread{s}" VALUES (4101, '{GUID}', 1, 1, 4101, 4101, 'main');
        INSERT INTO "rocpd_info_agent{s}" VALUES (1, '{GUID}', 1, 4101, 'GPU', 1, 'gfx942', '{{}}');
    """)
    database.executemany(f'INSERT INTO "rocpd_info_kernel_symbol{s}" VALUES (?,?,?,?,32,64,0,?)',
                         ((i + 1, GUID, name, name, "{}") for i, name in enumerate(NAMES)))
    at = 1_000_000_000_000
    # Each list by itself, as rocprofv3 writes them: calls first, and events in the order of the rows that name them.
    database.executemany(f'INSERT INTO "rocpd_event{s}" VALUES (?,?,?,?,?,0,?,?,?)',
                         ((i + 1, GUID, 1 if i < rows else 2, i % rows + 1, 0 if i < rows else i % rows + 1, "{}", "{}", "{}")
                          for i in range(2 * rows)))
    database.executemany(f'INSERT INTO "rocpd_region{s}" VALUES (?,?,1,4101,4101,?,?,3,?,?)',
                         ((i + 1, GUID, at + i * 10_000, at + i * 10_000 + 4_000, i + 1, "{}") for i in range(rows)))
    database.executemany(f'INSERT INTO "rocpd_kernel_dispatch{s}" VALUES (?,?,1,4101,4101,1,?,?,0,?,?,?,0,1024,256,1,1,65536,1,1,4,?,?)',
                         ((i + 1, GUID, i % 200 + 1, i + 1, i % 4, at + i * 10_000 + 5_000, at + i * 10_000 + 5_000 + i % 8_000,
                           rows + i + 1, "{}") for i in range(rows)))
    database.execute("COMMIT")


def nsight(rows, path):
    head = "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER"
    database = open_new(path, f"""
        CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
        CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER,
            correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL ({head}, demangledName INTEGER, shortName INTEGER, mangledName INTEGER, launchType INTEGER, cacheConfig INTEGER,
            registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER,
            staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, localMemoryPerThread INTEGER, localMemoryTotal INTEGER, gridId INTEGER,
            sharedMemoryExecuted INTEGER, graphNodeId INTEGER);
        CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER, color INTEGER,
            text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, uint64Value INTEGER, int64Value INTEGER,
            doubleValue REAL, uint32Value INTEGER, int32Value INTEGER, floatValue REAL, jsonTextId INTEGER, jsonText TEXT, binaryData TEXT);
        INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.16.1');
    """)
    pid, tid = 7 << 24, 7 << 24 | 9
    base = len(NAMES) + 2
    database.executemany("INSERT INTO StringIds VALUES (?,?)", [(1, "cudaLaunchKernel_v7000"), *((i + 2, name) for i, name in enumerate(NAMES))])
    # emit_nvtx: a text of its own for each op
    database.executemany("INSERT INTO StringIds VALUES (?,?)",
                         ((base + i, f"aten::linear, seq = {i}, op_id = {i}, sizes = [[32, {i % 50}], [{i % 50}, 64], []], input_op_ids = [({i},0), (0,-1)]")
                          for i in range(rows)))
    database.executemany("INSERT INTO NVTX_EVENTS (start,end,eventType,globalTid,textId,domainId) VALUES (?,?,59,?,?,0)",
                         ((i * 10_000 - 500, i * 10_000 + 4_500, tid, base + i) for i in range(rows)))
    database.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?,?,0,?,?,1,0,NULL)",
                         ((i * 10_000, i * 10_000 + 4_000, tid, i) for i in range(rows)))
    database.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?,?,0,1,?,?,?,?,?,?,1,0,32,64,1,1,256,1,1,0,1024,0,0,?,16,NULL)",
                         ((i * 10_000 + 5_000, i * 10_000 + 5_000 + i % 8_000, 7 + i % 4, i, pid, 2 + i % 200, 2 + i % 200, 2 + i % 200, i) for i in range(rows)))
    database.execute("COMMIT")


def rpd(rows, path):
    database = open_new(path, """
        CREATE TABLE rocpd_metadata (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
        CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string TEXT);
        CREATE TABLE rocpd_ustring (id INTEGER PRIMARY KEY, string TEXT);
        CREATE TABLE rocpd_api (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, start INTEGER, end INTEGER, apiName_id INTEGER, args_id INTEGER,
                                category_id INTEGER, domain_id INTEGER);
        CREATE TABLE rocpd_op (id INTEGER PRIMARY KEY, gpuId INTEGER, queueId INTEGER, sequenceId INTEGER, start INTEGER, end INTEGER,
                               description_id INTEGER, opType_id INTEGER);
        CREATE TABLE rocpd_api_ops (id INTEGER PRIMARY KEY, api_id INTEGER, op_id INTEGER);
        CREATE TABLE rocpd_kernelapi (api_ptr_id INTEGER PRIMARY KEY, stream TEXT, gridX INTEGER, gridY INTEGER, gridZ INTEGER, workgroupX INTEGER,
            workgroupY INTEGER, workgroupZ INTEGER, groupSegmentSize INTEGER, privateSegmentSize INTEGER, kernelArgAddress TEXT, aquireFence TEXT,
            releaseFence TEXT, codeObject_id INTEGER, kernelName_id INTEGER);
        INSERT INTO rocpd_metadata (tag, value) VALUES ('schema_version', '3');
        INSERT INTO rocpd_string VALUES (4294967297, 'hipLaunchKernel'), (4294967298, 'KernelExecution'), (4294967299, '');
    """)
    base = 1 << 32
    database.executemany("INSERT INTO rocpd_string VALUES (?,?)", ((base + 4 + i, name) for i, name in enumerate(NAMES)))
    database.executemany("INSERT INTO rocpd_ustring VALUES (?,?)", ((base + i, f"grid=({i % 64}, 1, 1) block=(256, 1, 1) stream=0x0") for i in range(rows)))
    database.executemany("INSERT INTO rocpd_api VALUES (?,4101,4101,?,?,4294967297,?,4294967299,4294967299)",
                         ((base + i, i * 10_000, i * 10_000 + 4_000, base + i) for i in range(rows)))
    database.executemany("INSERT INTO rocpd_op VALUES (?,0,?,?,?,?,?,4294967298)",
                         ((base + i, i % 4, i, i * 10_000 + 5_000, i * 10_000 + 5_000 + i % 8_000, base + 4 + i % 200) for i in range(rows)))
    database.executemany("INSERT INTO rocpd_api_ops VALUES (?,?,?)", ((base + i, base + i, base + i) for i in range(rows)))
    database.executemany("INSERT INTO rocpd_kernelapi VALUES (?,'0x0',64,1,1,256,1,1,0,0,'','','',0,?)",
                         ((base + i, base + 4 + i % 200) for i in range(rows)))
    database.execute("COMMIT")


if __name__ == "__main__":
    {"rocpd": rocpd, "nsight": nsight, "rpd": rpd}[sys.argv[1]](int(sys.argv[2]), sys.argv[3])
