#include <tracelens/info.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <tracelens/read_trace.hpp>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

constexpr std::string_view kTrace = R"({
  "schemaVersion": 1, "record_shapes": 1, "with_stack": 0, "cuda_driver_version": 12040,
  "deviceProperties": [{"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150323855360,
                        "computeMajor": 9, "computeMinor": 0, "numSms": 132, "warpSize": 32}],
  "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8},
  "traceEvents": [
    {"ph": "M", "name": "process_name", "pid": 100, "tid": 0, "args": {"name": "python"}},
    {"ph": "M", "name": "thread_name", "pid": 100, "tid": 7, "args": {"name": "main thread"}},
    {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#2", "pid": 100, "tid": 7, "ts": 300, "dur": 200},
    {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 100, "tid": 7, "ts": 100, "dur": 200},
    {"ph": "X", "cat": "gpu_user_annotation", "name": "ProfilerStep#1", "pid": 0, "tid": 7, "ts": 110, "dur": 200},
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 100, "tid": 7, "ts": 120, "dur": 10},
    {"ph": "X", "cat": "odd one", "name": "x", "pid": 100, "tid": 7, "ts": 125, "dur": 1}
  ]})";

const Table& named(const std::vector<Table>& tables, std::string_view name) {
  for (const Table& table : tables)
    if (table.name() == name) return table;
  throw std::runtime_error{"no table " + std::string{name}};
}

std::string property(const Table& table, std::string_view name) {
  for (std::size_t row = 0; row < table.rows(); ++row)
    if (table.column("property").texts()[row] == name) return table.column("value").texts()[row];
  return "(absent)";
}

class TraceInfo : public ::testing::Test {
 protected:
  const Trace trace = read_trace_bytes("test.json", kTrace);
  const Tree tree = build_tree(trace);
  const std::vector<Table> tables = trace_info(trace, tree);
};

TEST_F(TraceInfo, TheOverviewTellsOptionsVersionsAndRank) {
  const Table& overview = named(tables, "trace");
  EXPECT_EQ(property(overview, "file"), "test.json");
  EXPECT_EQ(property(overview, "format"), "kineto");
  EXPECT_EQ(property(overview, "framework"), "PyTorch");
  EXPECT_EQ(property(overview, "profiler options"), "record_shapes");
  EXPECT_EQ(property(overview, "cuda_driver_version"), "12040");
  EXPECT_EQ(property(overview, "rank"), "3");
  EXPECT_EQ(property(overview, "world_size"), "8");
  EXPECT_EQ(property(overview, "span"), "0.400 ms");
}

TEST_F(TraceInfo, DevicesComeFromTheDeviceProperties) {
  const Table& devices = named(tables, "devices");
  ASSERT_EQ(devices.rows(), 1u);
  EXPECT_EQ(devices.column("name").texts()[0], "NVIDIA H200");
  EXPECT_DOUBLE_EQ(devices.column("memory").reals()[0], 140);
  EXPECT_EQ(devices.column("capability").texts()[0], "9.0");
}

TEST_F(TraceInfo, CategoriesAreCountedUnderTheirOwnNames) {
  const Table& categories = named(tables, "categories");
  bool found_odd = false;
  for (std::size_t row = 0; row < categories.rows(); ++row)
    if (categories.column("category").texts()[row] == "odd one") {
      found_odd = true;
      EXPECT_EQ(categories.column("events").integers()[row], 1);
    }
  EXPECT_TRUE(found_odd);
}

TEST_F(TraceInfo, ThreadsCarryTheirNames) {
  const Table& threads = named(tables, "threads");
  ASSERT_EQ(threads.rows(), 2u);
  EXPECT_EQ(threads.column("thread").texts()[0], "main thread");
  EXPECT_EQ(threads.column("process").texts()[0], "python");
  EXPECT_EQ(threads.column("ops").integers()[0], 1);
}

TEST_F(TraceInfo, StepsAreTheHostAnnotationsInOrderOfTime) {
  const Table& steps = named(tables, "steps");
  ASSERT_EQ(steps.rows(), 2u);
  EXPECT_EQ(steps.column("step").texts()[0], "ProfilerStep#1");
  EXPECT_DOUBLE_EQ(steps.column("start").reals()[1], 0.2);
  EXPECT_DOUBLE_EQ(steps.column("duration").reals()[1], 0.2);
}

TEST(TraceInfoOfJax, GpuEventsAreLinkedToModules) {
  const Trace trace = read_trace("tests/data/jax_gemm.xplane.pb.gz");
  const auto tables = trace_info(trace, build_tree(trace));
  EXPECT_EQ(property(named(tables, "trace"), "GPU events"), "6 (6 launched by a compiled module)");
}

TEST(TraceInfoEmpty, AnEmptyTraceHasTablesToo) {
  TestTrace t;
  const Trace trace = t.finish();
  const auto tables = trace_info(trace, build_tree(trace));
  EXPECT_EQ(named(tables, "threads").rows(), 0u);
}

}  // namespace
}  // namespace tracelens
