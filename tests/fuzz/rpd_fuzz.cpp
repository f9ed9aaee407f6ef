// A database of rpd_tracer with changes to its pages, cells and schema is read or refused with an Error, by
// any number of threads alike.
#include "changed_database.hpp"

namespace {

constexpr const char* kScript = R"(
CREATE TABLE rocpd_metadata (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string TEXT);
CREATE TABLE rocpd_api (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, start INTEGER, end INTEGER, apiName_id INTEGER, args_id INTEGER);
CREATE TABLE rocpd_op (id INTEGER PRIMARY KEY, gpuId INTEGER, queueId INTEGER, start INTEGER, end INTEGER, description_id INTEGER, opType_id INTEGER);
CREATE TABLE rocpd_api_ops (id INTEGER PRIMARY KEY, api_id INTEGER, op_id INTEGER);
INSERT INTO rocpd_string VALUES (1,'hipLaunchKernel'),(2,'gemm'),(3,'KernelExecution'),(4,'UserMarker'),(5,'aten::mm, seq = 1, sizes = [[2, 3], [3, 4]]');
INSERT INTO rocpd_api VALUES (1,7,8,100,200,1,2),(2,7,8,90,300,4,5);
INSERT INTO rocpd_op VALUES (1,0,1,250,400,2,3),(2,0,1,500,600,2,3);
INSERT INTO rocpd_api_ops VALUES (1,1,1);
CREATE TABLE rocpd_monitor (id INTEGER PRIMARY KEY, deviceType TEXT, deviceId INTEGER, monitorType TEXT, start INTEGER, end INTEGER, value TEXT);
CREATE TABLE rocpd_copyapi (api_ptr_id INTEGER PRIMARY KEY, stream TEXT, size INTEGER);
CREATE TABLE rocpd_kernelapi (api_ptr_id INTEGER PRIMARY KEY, gridX INTEGER, gridY INTEGER, gridZ INTEGER, workgroupX INTEGER, workgroupY INTEGER, workgroupZ INTEGER, groupSegmentSize INTEGER, privateSegmentSize INTEGER);
INSERT INTO rocpd_monitor VALUES (1,'gpu',0,'sclk',100,200,'2100');
INSERT INTO rocpd_kernelapi VALUES (1,64,1,1,64,1,1,0,0);
INSERT INTO rocpd_metadata VALUES (1,'schema_version','3'),(2,'gpu_stride','1000');
INSERT INTO rocpd_api SELECT value+4294967296,7,8,value*100,value*100+50,1,2 FROM (WITH RECURSIVE c(value) AS (SELECT 10 UNION ALL SELECT value+1 FROM c WHERE value<60) SELECT value FROM c);
INSERT INTO rocpd_op SELECT id,0,1,start+60,end+60,2,3 FROM rocpd_api WHERE id>100;
INSERT INTO rocpd_api_ops SELECT id,id,id FROM rocpd_op WHERE id>100;
)";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string base = tracelens::fuzz::bytes_of(kScript);
  tracelens::fuzz::check_reading(tracelens::fuzz::changed(base, {data, size}));
  return 0;
}
