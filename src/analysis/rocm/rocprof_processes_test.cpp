#include "analysis/rocm/rocprof_processes.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <tracelens/read_trace.hpp>

#include "analysis/rocm/api_latency.hpp"
#include "analysis/rocm/hip_streams.hpp"
#include "analysis/rocm/rocprof_tables.hpp"

namespace tracelens {
namespace {

std::string process_text(int pid, int init, int fini, int start, int end) {
  return fmt::format(
      R"({{"metadata":{{"pid":{},"init_time":{},"fini_time":{},"node":{{"hostname":"n1"}},)"
      R"("command":["python3","train.py"]}},"strings":{{}},"kernel_symbols":[],)"
      R"("agents":[{{"id":{{"handle":{}}},"type":2,"node_id":4,"logical_node_type_id":0}}],)"
      R"("buffer_records":{{"hip_api":[{{"thread_id":9,"start_timestamp":{},"end_timestamp":{},)"
      R"("correlation_id":{{"internal":1}}}}],"kernel_dispatch":[{{"start_timestamp":{},)"
      R"("end_timestamp":{},"correlation_id":{{"internal":1}},"stream_id":{{"handle":3}},)"
      R"("dispatch_info":{{"kernel_id":1,"agent_id":{{"handle":{}}}}}}}]}}}})",
      pid, init, fini, 500 + pid, start - 2000, start - 1000, start, end, 500 + pid);
}
Trace profile(const std::string& one, const std::string& other) {
  return read_trace_bytes("x_results.json",
                          R"({"rocprofiler-sdk-tool":[)" + one + "," + other + "]}");
}

// Two processes on one GPU. The first runs from 0 to 100 us with a kernel of 10 us, the second from
// 50 to 250 us with one of 20 us; ids, threads and streams are alike.
Trace two_processes() {
  return profile(process_text(70, 0, 100'000, 60'000, 70'000),
                 process_text(71, 50'000, 250'000, 65'000, 85'000));
}

TEST(RocprofProcessTable, TellsWhatEachRan) {
  const Trace trace = two_processes();
  const auto table = processes_table(trace);
  ASSERT_TRUE(table);
  ASSERT_EQ(table->rows(), 2u);
  EXPECT_EQ(table->column("PID").integers()[1], 71);
  EXPECT_EQ(table->column("host").texts()[1], "n1");
  EXPECT_EQ(table->column("command").texts()[1], "python3 train.py");
  EXPECT_EQ(table->column("GPUs").texts()[1], "0");
  EXPECT_EQ(table->column("kernels").integers()[1], 1);
  EXPECT_EQ(table->column("calls").integers()[1], 1);
  EXPECT_DOUBLE_EQ(table->column("busy").reals()[1], 0.020);
  EXPECT_DOUBLE_EQ(table->column("run").reals()[1], 0.200);
  EXPECT_DOUBLE_EQ(table->column("busy share").reals()[1], 10);
}

TEST(RocprofProcessTable, IsOnlyThereWhereTheTraceTellsItsProcesses) {
  const Trace trace = read_trace_bytes(
      "t.json", std::string_view{R"({"traceEvents": [], "processes": [{"events": 9}]})"});
  EXPECT_FALSE(processes_table(trace));
  ASSERT_EQ(profiled_processes(trace).size(), 1u);
  EXPECT_EQ(profiled_processes(trace)[0].end_row, 0u);
}

TEST(RocprofTimeline, OfSeveralProcessesGoesFromTheFirstStartToTheLastEnd) {
  const Trace trace = two_processes();
  const auto ms = [](const Table& table) { return table.column("time ms").reals(); };
  const Table all = rocprof_gpu_timeline(RocprofKernels{trace});
  EXPECT_DOUBLE_EQ(ms(all)[0], 0.250);
  EXPECT_DOUBLE_EQ(ms(all)[1], 0.025);  // 60 to 85 us
  const Table first = rocprof_gpu_timeline(RocprofKernels{trace, Edition::kReference});
  EXPECT_DOUBLE_EQ(ms(first)[0], 0.100);
  EXPECT_DOUBLE_EQ(ms(first)[1], 0.010);
}

TEST(RocprofTimeline, IsNotStretchedByAProcessWithoutTimes) {
  const Trace trace = profile(process_text(70, 50'000, 90'000, 60'000, 70'000),
                              process_text(71, 0, 0, 65'000, 85'000));
  const Table table = rocprof_gpu_timeline(RocprofKernels{trace});
  EXPECT_DOUBLE_EQ(table.column("time ms").reals()[0], 0.040);
}

TEST(RocprofKernelDetails, NameTheProcessWhereThereAreSeveral) {
  const Trace trace = two_processes();
  const Table all = rocprof_kernel_details(RocprofKernels{trace});
  ASSERT_EQ(all.rows(), 2u);
  EXPECT_EQ(all.column("PID").integers()[0], 71);  // the longer one
  EXPECT_EQ(all.column("PID").integers()[1], 70);
  const Table first = rocprof_kernel_details(RocprofKernels{trace, Edition::kReference});
  EXPECT_EQ(first.rows(), 1u);
  EXPECT_FALSE(first.has_column("PID"));
}

TEST(GpuStreams, OfTwoProcessesAreTwo) {
  const auto table = gpu_streams(two_processes());
  ASSERT_TRUE(table);
  EXPECT_EQ(table->rows(), 2u);
}

TEST(ApiLaunches, StayInsideTheirProcess) {
  const Trace trace = two_processes();
  const auto launches = find_api_launches(PftraceEvents{trace, Edition::kExtended},
                                          {.all_kernels = true, .other_calls = true});
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[0].kernel, EventId{1});
  EXPECT_EQ(launches[1].kernel, EventId{3});
}

}  // namespace
}  // namespace tracelens
