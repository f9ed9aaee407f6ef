// A database with bytes of its pages changed is read or refused with an Error, by one thread and by
// two. The input is a list of changes to one of a few small databases of ours, since bytes that are no
// database at all get no further than the first page.
#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tracelens/error.hpp>
#include <vector>

#include "io/check.hpp"
#include "io/stream.hpp"
#include "readers/database/database.hpp"
#include "readers/kit/dump.hpp"

namespace {

using tracelens::io::Stream;

// Small pages: changes hit more than text.
constexpr const char* kRpd = R"(
PRAGMA page_size=512;
CREATE TABLE rocpd_metadata (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string TEXT);
CREATE TABLE rocpd_api (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, start INTEGER, end INTEGER, apiName_id INTEGER, args_id INTEGER);
CREATE TABLE rocpd_op (id INTEGER PRIMARY KEY, gpuId INTEGER, queueId INTEGER, start INTEGER, end INTEGER, description_id INTEGER, opType_id INTEGER);
CREATE TABLE rocpd_api_ops (id INTEGER PRIMARY KEY, api_id INTEGER, op_id INTEGER);
INSERT INTO rocpd_string VALUES (1,'hipLaunchKernel'),(2,'gemm'),(3,'KernelExecution'),(4,'UserMarker'),(5,'aten::mm, seq = 1, sizes = [[2, 3], [3, 4]]');
INSERT INTO rocpd_api VALUES (1,7,8,100,200,1,2),(2,7,8,90,300,4,5);
INSERT INTO rocpd_op VALUES (1,0,1,250,400,2,3),(2,0,1,500,600,2,3);
INSERT INTO rocpd_api_ops VALUES (1,1,1);
)";
constexpr const char* kNsight = R"(
PRAGMA page_size=512;
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId INTEGER, domainId INTEGER, globalTid INTEGER, uint64Value INTEGER, binaryData TEXT);
CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (schemaId INTEGER, idx INTEGER, type INTEGER, name TEXT, offset INTEGER);
INSERT INTO StringIds VALUES (1,'cudaLaunchKernel_v7000'),(2,'gemm'),(3,'ncclAllReduce');
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10,20,0,117440513,5,1),(9,21,67,117440513,5,1);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (30,50,0,7,5,117440512,2,1,1,1,32,1,1);
INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (4,0,18,'Message size [bytes]',NULL);
INSERT INTO NVTX_EVENTS VALUES (1,2,75,'NCCL',NULL,1,117440513,NULL,NULL),(5,NULL,59,NULL,3,1,117440513,NULL,x'0100000000000000040000000000000008000000000000002000000000000000004000000000000000');
)";
constexpr const char* kRocpd = R"(
PRAGMA page_size=512;
CREATE TABLE rocpd_metadata_a (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
CREATE TABLE rocpd_string_a (id INTEGER PRIMARY KEY, guid TEXT, string TEXT);
CREATE TABLE rocpd_info_node_a (id INTEGER PRIMARY KEY, machine_id TEXT, hostname TEXT);
CREATE TABLE rocpd_info_process_a (id INTEGER PRIMARY KEY, pid INTEGER);
CREATE TABLE rocpd_info_agent_a (id INTEGER PRIMARY KEY, type TEXT, absolute_index INTEGER, extdata JSONB);
CREATE TABLE rocpd_event_a (id INTEGER PRIMARY KEY, category_id INTEGER, stack_id INTEGER, extdata JSONB);
CREATE TABLE rocpd_region_a (id INTEGER PRIMARY KEY, tid INTEGER, start BIGINT, end BIGINT, name_id INTEGER, event_id INTEGER);
CREATE TABLE rocpd_kernel_dispatch_a (id INTEGER PRIMARY KEY, agent_id INTEGER, kernel_id INTEGER, stream_id INTEGER, start BIGINT, end BIGINT, workgroup_size_x INTEGER, grid_size_x INTEGER, event_id INTEGER);
CREATE TABLE rocpd_pmc_event_a (id INTEGER PRIMARY KEY, event_id INTEGER, pmc_id INTEGER, value REAL, sample_id INTEGER);
CREATE TABLE rocpd_info_pmc_a (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE rocpd_memory_allocate_a (id INTEGER PRIMARY KEY, agent_id INTEGER, type TEXT, level TEXT, start BIGINT, end BIGINT, address INTEGER, size INTEGER);
INSERT INTO rocpd_string_a VALUES (1,'','HIP_RUNTIME_API'),(2,'','hipLaunchKernel'),(3,'','MARKER_CORE_RANGE_API'),(4,'','roctxThreadRangeA');
INSERT INTO rocpd_info_node_a VALUES (1,'m','n');
INSERT INTO rocpd_info_process_a VALUES (1,9);
INSERT INTO rocpd_info_agent_a VALUES (1,'GPU',1,'{"cu_count":304}');
INSERT INTO rocpd_event_a VALUES (1,1,5,'{}'),(2,3,6,'{"message":"step"}'),(3,1,5,'{}');
INSERT INTO rocpd_region_a VALUES (1,1,10,20,2,1),(2,1,5,30,4,2);
INSERT INTO rocpd_kernel_dispatch_a VALUES (1,1,1,0,40,60,64,128,3);
INSERT INTO rocpd_info_pmc_a VALUES (1,'SQ_WAVES');
INSERT INTO rocpd_pmc_event_a VALUES (1,3,1,4.0,NULL),(2,NULL,1,5.0,1);
INSERT INTO rocpd_memory_allocate_a VALUES (1,1,'ALLOC','REAL',1,2,4096,65536);
)";

std::string bytes_of(const char* script) {
  sqlite3* database = nullptr;
  TL_CHECK(sqlite3_open(":memory:", &database) == SQLITE_OK);
  TL_CHECK(sqlite3_exec(database, script, nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_int64 size = 0;
  unsigned char* const image = sqlite3_serialize(database, "main", &size, 0);
  TL_CHECK(image != nullptr);
  std::string bytes{reinterpret_cast<const char*>(image), static_cast<std::size_t>(size)};
  sqlite3_free(image);
  sqlite3_close(database);
  return bytes;
}

std::string dump_of(std::string_view bytes, int threads) {
  try {
    Stream in = Stream::over("input", bytes);
    return tracelens::dump(tracelens::read_database(in, {.threads = threads}));
  } catch (const tracelens::Error& error) {
    return error.what();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<std::string> databases{bytes_of(kRpd), bytes_of(kNsight),
                                                  bytes_of(kRocpd)};
  if (size == 0) return 0;
  std::string bytes = databases[data[0] % databases.size()];
  // (place, value) of three bytes each
  for (std::size_t i = 1; i + 3 <= size; i += 3)
    bytes[(static_cast<std::size_t>(data[i]) << 8 | data[i + 1]) % bytes.size()] =
        static_cast<char>(data[i + 2]);
  // How much of a damaged table is read before the damage shows may differ with the connection that
  // reads it, so the two are not compared.
  static_cast<void>(dump_of(bytes, 1));
  static_cast<void>(dump_of(bytes, 2));
  return 0;
}
