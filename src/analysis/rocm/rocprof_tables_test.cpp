#include "analysis/rocm/rocprof_tables.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <tracelens/read_trace.hpp>

#include "analysis/rocm/genesis.hpp"
#include "analysis/rocm/hip_streams.hpp"

namespace tracelens {
namespace {

struct Dispatch {
  std::string_view name;
  std::int64_t start, end;
  int stream = 0;
};

// rocprofv3's results of a process that ran from 0 to 100 us.
Trace profile(std::initializer_list<Dispatch> dispatches) {
  std::string symbols, records;
  int id = 0;
  for (const Dispatch& each : dispatches) {
    if (++id > 1) {
      symbols += ',';
      records += ',';
    }
    symbols += fmt::format(R"({{"kernel_name":"{}","kernel_id":{}}})", each.name, id);
    records += fmt::format(
        R"({{"start_timestamp":{},"end_timestamp":{},"stream_id":{{"handle":{}}},)"
        R"("dispatch_info":{{"agent_id":{{"handle":1}},"kernel_id":{},"dispatch_id":{}}}}})",
        each.start, each.end, each.stream, id, 100 + id);
  }
  return read_trace_bytes(
      "x_results.json",
      R"({"rocprofiler-sdk-tool":[{"metadata":{"init_time":0,"fini_time":100000},"kernel_symbols":[)" +
          symbols + R"(],"buffer_records":{"kernel_dispatch":[)" + records +
          R"(],"memory_copy":[{"start_timestamp":30000,"end_timestamp":50000}]}}]})");
}

TEST(RocprofTimeline, IsAboutTheWholeRunOfTheProcess) {
  const Trace trace = profile({{"a", 10'000, 30'000}, {"b", 20'000, 40'000}});
  const Table table = rocprof_gpu_timeline(RocprofKernels{trace});
  ASSERT_EQ(table.rows(), 5u);
  const auto ms = table.column("time ms").reals();
  EXPECT_DOUBLE_EQ(ms[0], 0.1);
  EXPECT_DOUBLE_EQ(ms[1], 0.030);  // kernels
  EXPECT_DOUBLE_EQ(ms[2], 0.020);  // copies
  EXPECT_DOUBLE_EQ(ms[3], 0.040);  // either
  EXPECT_DOUBLE_EQ(ms[4], 0.060);
  EXPECT_DOUBLE_EQ(table.column("percent").reals()[4], 60);
}

TEST(RocprofKernelSummary, TimesAreWhatTheHeadersSay) {
  const Trace trace = profile({{"x", 0, 1'000}, {"x", 0, 3'000}, {"y", 0, 12'000}});
  const Table table = rocprof_kernel_summary(RocprofKernels{trace}, {});
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(table.column("name").texts()[1], "x");
  EXPECT_DOUBLE_EQ(table.column("Mean Kernel Time (µs)").reals()[1], 2);
  EXPECT_DOUBLE_EQ(table.column("Total Kernel Time (ms)").reals()[0], 0.012);
  EXPECT_TRUE(table.column("Std Kernel Time (µs)").is_missing(0));
  EXPECT_DOUBLE_EQ(table.column("Cumulative Percentage (%)").reals()[0], 75);
  EXPECT_DOUBLE_EQ(table.column("Cumulative Percentage (%)").reals()[1], 100);
}

TEST(RocprofKernelSummary, CanRunUpThePercentagesInOrderOfTheNames) {
  const Trace trace = profile({{"x", 0, 4'000}, {"y", 0, 12'000}});
  const Table table =
      rocprof_kernel_summary(RocprofKernels{trace}, {.edition = Edition::kReference});
  EXPECT_DOUBLE_EQ(table.column("Cumulative Percentage (%)").reals()[0], 100);
  EXPECT_DOUBLE_EQ(table.column("Cumulative Percentage (%)").reals()[1], 25);
}

TEST(RocprofCategory, TheFirstWordDecides) {
  EXPECT_EQ(rocprof_category("Cijk_reduce"), "GEMM");
  EXPECT_EQ(rocprof_category("ncclDevKernel_AllReduce_Sum"), "Reduction");
  EXPECT_EQ(rocprof_category("ncclDevKernel_Generic_1"), "COMM");
  EXPECT_EQ(rocprof_category("rope"), "Other");
}

TEST(RocprofKernelDetails, ShowsTheLongestFirstAndCutsTheRest) {
  const Trace trace = profile({{"a", 0, 1'000}, {"b", 0, 9'000, 4}, {"c", 0, 5'000}});
  const RocprofKernels kernels{trace};
  const Table table = rocprof_kernel_details(kernels, {.top = 2});
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(table.column("name").texts()[0], "b");
  EXPECT_DOUBLE_EQ(table.column("Kernel duration (µs)").reals()[0], 9);
  EXPECT_EQ(table.column("stream").integers()[0], 4);
  EXPECT_EQ(table.column("dispatch_id").integers()[0], 102);
  EXPECT_EQ(table.column("grid_x").integers()[0], 1);
  EXPECT_EQ(rocprof_kernel_details(kernels, {.top = -1}).rows(), 2u);
  EXPECT_EQ(rocprof_kernel_details(kernels, {.top = 0}).rows(), 0u);
}

TEST(RocprofShortKernels, TheThresholdIsInMicroseconds) {
  const Trace trace = profile({{"a", 0, 9'999}, {"a", 0, 4'999}, {"b", 0, 10'000}});
  const RocprofKernels kernels{trace};
  const Table table = rocprof_short_kernels(kernels, 10);
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_EQ(table.column("Short Kernel count").integers()[0], 2);
  EXPECT_DOUBLE_EQ(table.column("Short Kernel duration (µs) sum").reals()[0], 14.998);
  const Table histogram = rocprof_short_histogram(kernels, 10, 5);
  ASSERT_EQ(histogram.rows(), 5u);
  EXPECT_DOUBLE_EQ(histogram.column("bin_start").reals()[0], 4.999);
  EXPECT_DOUBLE_EQ(histogram.column("bin_end").reals()[4], 9.999);
  EXPECT_EQ(histogram.column("count").integers()[0], 1);
  EXPECT_EQ(histogram.column("count").integers()[4], 1);  // the last bin has both its ends
}

TEST(GpuStreams, EachIsBusyForItsOwnTime) {
  const Trace trace = profile(
      {{"a", 0, 4'000, 1}, {"b", 2'000, 6'000, 1}, {"c", 9'000, 10'000, 1}, {"d", 0, 10'000, 2}});
  const auto table = gpu_streams(trace);
  ASSERT_TRUE(table);
  ASSERT_EQ(table->rows(), 2u);
  EXPECT_EQ(table->column("kernels").integers()[0], 3);
  EXPECT_DOUBLE_EQ(table->column("busy").reals()[0], 0.007);
  EXPECT_DOUBLE_EQ(table->column("busy share").reals()[0], 70);
  EXPECT_DOUBLE_EQ(table->column("longest gap").reals()[0], 3);
}

TEST(Genesis, TheSimulationBeginsAfterTheLongestPause) {
  const Trace trace = profile(
      {{"init", 0, 1'000}, {"kernel_step_1", 50'000, 60'000}, {"kernel_step_2", 60'000, 70'000}});
  const RocprofKernels kernels{trace};
  const auto steady = steady_state(kernels, {.gap_ns = 40'000, .fallback_ns = 1'000'000});
  ASSERT_TRUE(steady);
  EXPECT_EQ(steady->method, "after_max_gap_0.0ms");
  EXPECT_EQ(steady->dispatches, 2);
  EXPECT_DOUBLE_EQ(steady->busy_percent(), 100);
  // A pause that is too short: the end of the run is taken instead.
  const auto at_end = steady_state(kernels, {.gap_ns = 60'000, .fallback_ns = 1'000'000'000});
  EXPECT_EQ(at_end->method, "last_1.0s");
  EXPECT_EQ(at_end->dispatches, 3);
  const Table timeline = steady_timeline(*steady);
  EXPECT_DOUBLE_EQ(timeline.column("time ms").reals()[0], 0.02);
}

}  // namespace
}  // namespace tracelens
