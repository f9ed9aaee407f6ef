#include "readers/rocprof/rocprof.hpp"

#include <gtest/gtest.h>

#include <string>
#include <tracelens/error.hpp>

#include "readers/kit/dump.hpp"
#include "readers/rocprof/csv.hpp"

namespace tracelens {
namespace {

constexpr std::string_view kMetadata =
    R"("metadata": {"pid": 77, "init_time": 1000, "fini_time": 9000, "node": {"hostname": "n1"}})";
constexpr std::string_view kAgents =
    R"("agents": [{"id": {"handle": 501}, "type": 1, "logical_node_type_id": 0},
                  {"id": {"handle": 502}, "type": 2, "logical_node_type_id": 3, "name": "gfx950",
                   "product_name": "AMD Instinct MI350X", "cu_count": 256, "wave_front_size": 64}])";
constexpr std::string_view kStrings =
    R"("strings": {"buffer_records": [{"kind": "NONE", "operations": ["none"]},
         {"kind": "HIP_RUNTIME_API", "operations": ["hipFree", "hipLaunchKernel"]}],
         "marker_api": [{"key": 12, "value": "step 1"}]})";
constexpr std::string_view kSymbols =
    R"("kernel_symbols": [{"kernel_id": 4, "truncated_kernel_name": "add",
         "formatted_kernel_name": "void add<int>",
    "kernel_name" : "_Z3add.kd", "sgpr_count" : 32, "arch_vgpr_count" : 8
}, {"kernel_id": 5, "truncated_kernel_name": "",
         "formatted_kernel_name": "", "kernel_name": "raw.kd"}])";
constexpr std::string_view kRecords =
    R"("buffer_records": {"kernel_dispatch": [
         {"thread_id": 9, "correlation_id": {"internal": 11}, "start_timestamp": 2000,
          "end_timestamp": 2600, "stream_id": {"handle": 2}, "dispatch_info": {"kernel_id": 4,
          "dispatch_id": 70, "agent_id": {"handle": 502}, "queue_id": {"handle": 16},
          "grid_size": {"x": 512, "y": 2, "z": 1}, "workgroup_size": {"x": 64, "y": 1, "z": 1}}},
         {"start_timestamp": 3000, "end_timestamp": 3100, "dispatch_info": {"kernel_id": 5}},
         {"start_timestamp": 3200, "end_timestamp": 3300, "dispatch_info": {"kernel_id": 6}},
         {}],
       "memory_copy": [{"kind": 10, "operation": 2, "start_timestamp": 4000, "end_timestamp": 5000,
          "bytes": 4096, "src_agent_id": {"handle": 501}, "dst_agent_id": {"handle": 502}}],
       "hip_api": [{"kind": 1, "operation": 1, "thread_id": 9, "start_timestamp": 1500,
          "end_timestamp": 1700, "correlation_id": {"internal": 11}},
          {"kind": 1, "operation": 99, "thread_id": 9, "start_timestamp": 1800,
          "end_timestamp": 1900}],
       "marker_api": [{"thread_id": 9, "start_timestamp": 1400, "end_timestamp": 5500,
          "correlation_id": {"internal": 12}}],
       "pc_sample_host_trap": [{}, {}]})";

std::string document(std::initializer_list<std::string_view> members) {
  std::string text = R"({"rocprofiler-sdk-tool": [{)";
  for (const std::string_view member : members) text.append(member).append(", ");
  return text + R"("code_objects": []}]})";
}
std::string usual_document() {
  return document({kMetadata, kAgents, kStrings, kSymbols, kRecords});
}
Trace read(const std::string& text) { return read_trace_bytes("run_results.json", text); }

std::string error_of(const std::string& text) {
  try {
    (void)read(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(RocprofReader, GpusThatTheFileDoesNotListAreNumberedAsTheyCome) {
  const Trace trace =
      read(document({kMetadata, R"("agents": [], "strings": {}, "kernel_symbols": [])",
                     R"("buffer_records": {"kernel_dispatch": [
            {"start_timestamp": 1, "end_timestamp": 2, "dispatch_info": {"agent_id": {"handle": 37946}}},
            {"start_timestamp": 3, "end_timestamp": 4, "dispatch_info": {"agent_id": {"handle": 37948}}},
            {"start_timestamp": 5, "end_timestamp": 6, "dispatch_info": {"agent_id": {"handle": 37946}}}],
          "memory_copy": [{"start_timestamp": 7, "end_timestamp": 8, "bytes": 1, "operation": 3,
            "src_agent_id": {"handle": 37950}, "dst_agent_id": {"handle": 37944}}]})"}));
  const auto devices = trace.devices().values();
  EXPECT_EQ((std::vector<std::int64_t>{devices.begin(), devices.end()}),
            (std::vector<std::int64_t>{0, 1, 0, 2}));
  EXPECT_EQ(trace.details({1}).find("agent")->as_text(), "GPU-1");
  EXPECT_EQ(trace.details({1}).find("agent_id")->as_int(), 37948);  // as the file has it
}

TEST(RocprofReader, ADispatchIsAKernelWithItsLaunchConfiguration) {
  const Trace trace = read(usual_document());
  const EventId kernel{0};
  EXPECT_EQ(trace.source().format, "rocprof");
  EXPECT_EQ(trace.category(kernel), Category::kKernel);
  EXPECT_EQ(trace.category_text(kernel), "kernel_dispatch");
  EXPECT_EQ(trace.name(kernel), "add");
  EXPECT_EQ(trace.ts_ns()[0], 2000);
  EXPECT_EQ(trace.dur_ns()[0], 600);
  EXPECT_EQ(trace.correlations()[0], 11);
  EXPECT_EQ(trace.streams().at(kernel), 2);
  EXPECT_EQ(trace.devices().at(kernel), 3);
  EXPECT_EQ(trace.external_ids().at(kernel), 70);  // its dispatch
  const Value details = trace.details(kernel);
  EXPECT_EQ(details.find("agent")->as_text(), "GPU-3");
  EXPECT_EQ(details.find("agent_id")->as_int(), 502);
  EXPECT_EQ(details.find("grid_size")->as_int(), 1024);
  EXPECT_EQ(details.find("workgroup_size")->as_int(), 64);
  EXPECT_EQ(details.find("VGPR_Count")->as_int(), 8);
  EXPECT_EQ(details.find("tid")->as_int(), 9);
}

TEST(RocprofReader, AKernelHasTheFirstNameItsSymbolKnows) {
  const Trace trace = read(usual_document());
  EXPECT_EQ(trace.name({1}), "raw.kd");
  EXPECT_EQ(trace.name({2}), "unknown_kernel_6");
  EXPECT_EQ(trace.name({3}), "unknown_kernel_None");
}

TEST(RocprofReader, ARecordWithoutTimesKeepsItsPlaceAndIsCounted) {
  const Trace trace = read(usual_document());
  EXPECT_EQ(trace.phase({3}), Phase::kDamaged);
  EXPECT_EQ(trace.warnings().count("record without usable times"), 1u);
}

TEST(RocprofReader, CopiesCallsAndMarkersAreNamedByTheTablesOfTheFile) {
  const Trace trace = read(usual_document());
  EXPECT_EQ(trace.category({4}), Category::kGpuMemcpy);
  EXPECT_EQ(trace.name({4}), "MEMORY_COPY_HOST_TO_DEVICE");
  EXPECT_EQ(trace.details({4}).find("copy_bytes")->as_int(), 4096);
  EXPECT_EQ(trace.details({4}).find("src_agent")->as_text(), "CPU-0");
  EXPECT_EQ(trace.category({5}), Category::kCudaRuntime);
  EXPECT_EQ(trace.name({5}), "hipLaunchKernel");
  EXPECT_EQ(trace.track(EventId{5}), (Track{77, 9}));
  EXPECT_EQ(trace.name({6}), "hip_api 99");
  EXPECT_EQ(trace.name({7}), "step 1");
}

TEST(RocprofReader, TellsTheProcessAndItsGpus) {
  const Trace trace = read(usual_document());
  EXPECT_EQ(trace.metadata("init_time")->as_int(), 1000);
  EXPECT_EQ(trace.metadata("hostname")->as_text(), "n1");
  const Value& gpus = *trace.metadata("deviceProperties");
  ASSERT_EQ(gpus.items().size(), 1u);
  EXPECT_EQ(gpus.items()[0].find("name")->as_text(), "AMD Instinct MI350X");
}

TEST(RocprofReader, TheOrderOfTheMembersDoesNotMatter) {
  const std::string usual = dump_read(usual_document(), {});
  const std::string reversed =
      dump_read(document({kRecords, kSymbols, kStrings, kAgents, kMetadata}), {});
  const auto events_of = [](const std::string& text) {
    return text.substr(0, text.find("metadata"));
  };
  EXPECT_EQ(events_of(usual), events_of(reversed));
}

TEST(RocprofReader, BlocksOfAnySizeGiveTheSameTrace) {
  const std::string text = usual_document();
  const std::string whole = dump_read(text, {});
  for (const std::size_t block : {16u, 17u, 64u, 301u})
    EXPECT_EQ(dump_read(text, {.block_bytes = block}), whole) << block;
}

TEST(RocprofReader, SamplesAreCountedButNotRead) {
  EXPECT_EQ(
      read(usual_document()).warnings().count("pc_sample_host_trap records, which are not read"),
      2u);
}

TEST(RocprofReader, ACutFileGivesTheRecordsBeforeTheCutAndSaysSo) {
  const std::string text = usual_document();
  const Trace trace = read(text.substr(0, text.find(R"({"start_timestamp": 3200)")));
  EXPECT_EQ(trace.size(), 2u);
  EXPECT_TRUE(trace.source().cut_short);
}

TEST(RocprofReader, AFileWithoutRecordsIsAnErrorThatNamesWhatIsMissing) {
  EXPECT_NE(error_of(R"({"rocprofiler-sdk-tool": []})").find("buffer_records"), std::string::npos);
  EXPECT_NE(error_of(R"({"rocprofiler-sdk-tool": [{"agents": [)").find("byte"), std::string::npos);
}

TEST(RocprofReader, IsRecognisedByItsKeyNotByItsName) {
  EXPECT_TRUE(is_rocprof(" {\n\"rocprofiler-sdk-tool\" : ["));
  EXPECT_FALSE(is_rocprof(R"({"traceEvents": [{"name": "\"rocprofiler-sdk-tool\""}]})"));
  EXPECT_FALSE(is_rocprof(R"(["rocprofiler-sdk-tool"])"));
}

constexpr std::string_view kCsv =
    "\"Kind\",\"Agent_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\",\"Kernel_Id\",\"Kernel_"
    "Name\","
    "\"Start_Timestamp\",\"End_Timestamp\",\"VGPR_Count\",\"Grid_Size_X\",\"Grid_Size_Y\","
    "\"Grid_Size_Z\"\n"
    "\"KERNEL_DISPATCH\",\"Agent 2\",1,70,5,33,\"void f<int, 2>(\"\"x\"\")\",1000,1500,128,64,2,1\n"
    "\"KERNEL_DISPATCH\",\"Agent 2\",1,70,6,33,\"renamed\",2000,2100,128,64,2,1\n"
    "\"KERNEL_DISPATCH\",\"Agent 2\",1,70,x,33,\"bad\",2000,2100,128,64,2,1\n";

TEST(RocprofCsvReader, ARowIsADispatch) {
  const Trace trace = read_trace_bytes("kernel_kernel_trace.csv", kCsv);
  ASSERT_EQ(trace.size(), 2u);
  EXPECT_EQ(trace.source().format, "rocprof");
  EXPECT_EQ(trace.name({0}), "void f<int, 2>(\"x\")");
  EXPECT_EQ(trace.name({1}), "renamed");  // ids repeat in files that were joined into one
  EXPECT_EQ(trace.dur_ns()[0], 500);
  EXPECT_EQ(trace.devices().at({0}), 2);
  EXPECT_EQ(trace.details({0}).find("grid_size")->as_int(), 128);
  EXPECT_EQ(trace.metadata("init_time")->as_int(), 1000);
  EXPECT_EQ(trace.metadata("fini_time")->as_int(), 2100);
  EXPECT_EQ(trace.warnings().count("row that does not fit the columns"), 1u);
}

// As `rocpd convert` of ROCm 7.1 writes two processes, of which each numbers its own kernels.
TEST(RocprofCsvReader, AGuidIsAProcess) {
  const Trace trace = read_trace_bytes(
      "out_kernel_trace.csv",
      "Guid,Agent_Id,Stream_Id,Thread_Id,Dispatch_Id,Kernel_Id,Kernel_Name,Correlation_Id,"
      "Start_Timestamp,End_Timestamp,Lds_Block_Size,Vgpr_Count\n"
      "aaaa-1,Agent 4,0,4101,1,1,gemm,1,1000,11000,4096,64\n"
      "bbbb-2,Agent 4,0,4102,1,1,relu,1,20000,21000,0,16\n"
      "aaaa-1,Agent 4,0,4101,2,2,relu,2,30000,31000,0,16\n"
      "bbbb-2,Agent 4,0,4102,2,2,gemm,2,40000,70000,4096,32\n");
  std::map<std::string_view, std::int64_t> busy_ns;
  std::set<std::int64_t> correlations, streams;
  for (const EventId event : trace.all_events()) {
    busy_ns[trace.name(event)] += trace.dur_ns()[event.row];
    correlations.insert(trace.correlations()[event.row]);
    streams.insert(trace.track(event).tid.as_int());
  }
  EXPECT_EQ(busy_ns["gemm"], 40'000);
  EXPECT_EQ(busy_ns["relu"], 2'000);
  EXPECT_EQ(correlations.size(), 4u);
  EXPECT_EQ(streams.size(), 2u);
  const auto& processes = trace.metadata("processes")->items();
  ASSERT_EQ(processes.size(), 2u);
  EXPECT_EQ(processes[1].find("pid")->as_int(), 4102);
  EXPECT_EQ(processes[1].find("first_event")->as_int(), 2);
  EXPECT_EQ(processes[1].find("events")->as_int(), 2);
  EXPECT_EQ(trace.details({0}).find("LDS_Block_Size")->as_int(), 4096);
  EXPECT_EQ(trace.details({0}).find("VGPR_Count")->as_int(), 64);
  EXPECT_EQ(trace.details({3}).find("VGPR_Count")->as_int(), 32);
}

TEST(RocprofCsvReader, TheColumnsOfRocm6AreEnough) {
  const Trace trace = read_trace_bytes(
      "199_kernel_trace.csv",
      R"("Kind","Agent_Id","Queue_Id","Kernel_Name","Correlation_Id","Start_Timestamp",)"
      R"("End_Timestamp","Private_Segment_Size","Group_Segment_Size")"
      "\n\"KERNEL_DISPATCH\",1,139690710949888,\"a\",1,1000,1500,16,2048"
      "\n\"KERNEL_DISPATCH\",1,139690710949888,\"b\",2,2000,2100,0,0\n");
  ASSERT_EQ(trace.size(), 2u);
  EXPECT_EQ(trace.name({0}), "a");
  EXPECT_EQ(trace.name({1}), "b");
  EXPECT_EQ(trace.details({0}).find("LDS_Block_Size")->as_int(), 2048);
  EXPECT_EQ(trace.details({0}).find("Scratch_Size")->as_int(), 16);
  EXPECT_EQ(trace.details({0}).find("tid"), nullptr);
  EXPECT_EQ(trace.metadata("pid"), nullptr);
}

TEST(RocprofCsvReader, ANeededColumnThatIsMissingIsNamed) {
  EXPECT_NE(error_of("Kernel_Name,Start_Timestamp\nx,1\n").find("End_Timestamp"),
            std::string::npos);
}

}  // namespace
}  // namespace tracelens
