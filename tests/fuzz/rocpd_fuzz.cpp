// A database of rocprofv3 with changes to its pages, cells and schema is read or refused with an Error, by
// any number of threads alike.
#include "changed_database.hpp"

namespace {

constexpr const char* kScript = R"(
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
CREATE TABLE rocpd_sample_a (id INTEGER PRIMARY KEY, track_id INTEGER, timestamp BIGINT, event_id INTEGER);
CREATE TABLE rocpd_track_a (id INTEGER PRIMARY KEY, tid INTEGER, name_id INTEGER);
CREATE TABLE rocpd_memory_copy_a (id INTEGER PRIMARY KEY, tid INTEGER, start BIGINT, end BIGINT, name_id INTEGER, dst_agent_id INTEGER, src_agent_id INTEGER, size INTEGER, stream_id INTEGER, event_id INTEGER);
CREATE TABLE rocpd_info_kernel_symbol_a (id INTEGER PRIMARY KEY, kernel_name TEXT, display_name TEXT, extdata JSONB);
INSERT INTO rocpd_sample_a VALUES (1,1,50,NULL),(2,1,51,2);
INSERT INTO rocpd_track_a VALUES (1,1,2);
INSERT INTO rocpd_memory_copy_a VALUES (1,1,70,80,2,1,1,4096,0,NULL);
INSERT INTO rocpd_info_kernel_symbol_a VALUES (1,'k.kd','k','{"truncated_kernel_name":"t"}');
INSERT INTO rocpd_metadata_a VALUES (1,'schema_version','3'),(2,'guid','a');
INSERT INTO rocpd_event_a SELECT value,1,value,'{}' FROM (WITH RECURSIVE c(value) AS (SELECT 10 UNION ALL SELECT value+1 FROM c WHERE value<60) SELECT value FROM c);
INSERT INTO rocpd_kernel_dispatch_a SELECT id,1,1,0,id*100,id*100+50,64,128,id FROM rocpd_event_a WHERE id>=10;
)";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string base = tracelens::fuzz::bytes_of(kScript);
  tracelens::fuzz::check_reading(tracelens::fuzz::changed(base, {data, size}));
  return 0;
}
