#include "analysis/gpu/timeline.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

// type -> time in microseconds, of the rows [first, last).
std::map<std::string, double> times_us(const Table& table, std::size_t first = 0,
                                       std::size_t last = 1000) {
  std::map<std::string, double> times;
  const auto types = table.column("type").texts();
  const auto ms = table.column("time ms").reals();
  for (std::size_t row = first; row < std::min(last, table.rows()); ++row)
    times[types[row]] = ms[row] * 1000;
  return times;
}

Trace overlapping_work() {
  TestTrace t;
  const TestTrace::Gpu work[] = {
      {.name = "k0", .ts = 0, .dur = 100, .stream = 1},
      {.name = "ncclDevKernel_AllReduce", .ts = 80, .dur = 60, .stream = 2},
      {.name = "Memcpy", .ts = 130, .dur = 30, .stream = 3, .category = Category::kGpuMemcpy},
      {.name = "Memset", .ts = 200, .dur = 10, .stream = 1, .category = Category::kGpuMemset},
      {.name = "empty", .ts = 212, .dur = 0, .stream = 1},
      {.name = "__amd_rocclr_copyBuffer.kd", .ts = 215, .dur = 5},
      {.name = "void cross_device_reduce_2stage<bf16>", .ts = 220, .dur = 5}};
  for (const TestTrace::Gpu& gpu : work) t.launch("cudaLaunchKernel", gpu.ts, 0.1, gpu);
  return t.finish();
}

TEST(GpuTimeline, ExposedTimesAreWhatNothingMoreUsefulHides) {
  const Trace trace = overlapping_work();
  const Timeline timeline = gpu_timeline(TraceFacts{trace});
  const std::map<std::string, double> expected = {
      {"computation_time", 110},   {"exposed_comm_time", 45},  // [100,140] and [220,225]
      {"exposed_memcpy_time", 25},                             // [140,160] and [215,220]
      {"busy_time", 180},          {"idle_time", 45},         {"total_time", 225},
      {"total_comm_time", 65},     {"total_memcpy_time", 35}};
  const auto times = times_us(timeline.table);
  ASSERT_EQ(times.size(), expected.size());
  for (const auto& [type, us] : expected) EXPECT_DOUBLE_EQ(times.at(type), us) << type;
  EXPECT_EQ(timeline.total_ns, 225'000);
  EXPECT_TRUE(timeline.warnings.empty());
  EXPECT_DOUBLE_EQ(timeline.table.column("percent").reals()[4], 45.0 / 225.0 * 100);
}

TEST(GpuTimeline, AThresholdPartsTheIdleTime) {
  const Trace trace = overlapping_work();
  const TraceFacts facts{trace};
  // The gap from 210 to 215 is parted by the empty kernel at 212.
  auto times = times_us(gpu_timeline(facts, {.micro_idle_threshold_us = 4}).table);
  EXPECT_DOUBLE_EQ(times.at("micro_idle_time"), 5);
  EXPECT_DOUBLE_EQ(times.at("macro_idle_time"), 40);
  EXPECT_FALSE(times.contains("idle_time"));
  times = times_us(gpu_timeline(facts, {.micro_idle_threshold_us = 0}).table);
  EXPECT_DOUBLE_EQ(times.at("micro_idle_time"), 0);
  EXPECT_DOUBLE_EQ(times.at("macro_idle_time"), 45);
}

TEST(GpuTimeline, UnlinkedEventsCountOnlyWhenAskedForOrWhenThereIsNothingElse) {
  TestTrace t;
  t.launch("cudaLaunchKernel", 0, 1, {.ts = 10, .dur = 5});
  t.gpu({.ts = 20, .dur = 7}, 1);
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  EXPECT_DOUBLE_EQ(times_us(gpu_timeline(facts).table).at("busy_time"), 5);
  EXPECT_DOUBLE_EQ(times_us(gpu_timeline(facts, {.include_unlinked = true}).table).at("busy_time"),
                   12);

  TestTrace lone;
  lone.gpu({.ts = 20, .dur = 7});
  const Trace lone_trace = lone.finish();
  const Timeline fallback = gpu_timeline(TraceFacts{lone_trace});
  EXPECT_DOUBLE_EQ(times_us(fallback.table).at("busy_time"), 7);
  ASSERT_EQ(fallback.warnings.size(), 1u);
}

TEST(GpuTimeline, WithoutGpuEventsTimesAreZeroAndSharesMissing) {
  TestTrace t;
  t.op("aten::add", 0, 10);
  const Trace trace = t.finish();
  const Timeline timeline = gpu_timeline(TraceFacts{trace});
  ASSERT_EQ(timeline.table.rows(), 8u);
  EXPECT_EQ(timeline.table.column("time ms").reals()[5], 0.0);
  EXPECT_TRUE(timeline.table.column("percent").is_missing(5));
  EXPECT_EQ(timeline.warnings.size(), 1u);
}

TEST(GpuTimeline, RecomputedWorkHasItsOwnRows) {
  TestTrace t;
  t.python("torch/utils/checkpoint.py(1): recompute_fn", 0, 10);
  t.launch("cudaLaunchKernel", 1, 1, {.ts = 5, .dur = 4});
  t.launch("cudaLaunchKernel", 20, 1, {.ts = 30, .dur = 6});
  const Trace trace = t.finish();
  const TraceFacts facts{trace, {.python_frames = true}};
  const Timeline timeline = gpu_timeline(facts, {.split_recompute = true});
  ASSERT_EQ(timeline.table.rows(), 16u);
  EXPECT_DOUBLE_EQ(times_us(timeline.table, 0, 8).at("busy_time"), 6);
  EXPECT_DOUBLE_EQ(times_us(timeline.table, 8, 16).at("busy_time"), 4);
  EXPECT_EQ(timeline.table.column("is_recompute").integers()[0], 0);
  EXPECT_EQ(timeline.table.column("is_recompute").integers()[8], 1);
  EXPECT_EQ(timeline.total_ns, 6000);
}

TEST(GpuTimelineByDevice, EachGpuHasABlockWhenThereAreSeveral) {
  TestTrace t;
  t.launch("cudaLaunchKernel", 0, 1, {.ts = 10, .dur = 5, .device = 3});
  const Trace single = t.finish();
  EXPECT_FALSE(gpu_timeline_by_device(TraceFacts{single}));

  TestTrace pair;
  pair.launch("cudaLaunchKernel", 0, 1, {.ts = 10, .dur = 5, .device = 1});
  pair.launch("cudaLaunchKernel", 2, 1, {.ts = 12, .dur = 8, .device = 0});
  pair.launch("cudaLaunchKernel", 4, 1, {.ts = 30, .dur = 5, .device = 1});
  const Trace trace = pair.finish();
  const auto table = gpu_timeline_by_device(TraceFacts{trace});
  ASSERT_TRUE(table);
  ASSERT_EQ(table->rows(), 24u);
  EXPECT_EQ(table->column("device").texts()[0], "0");
  EXPECT_EQ(table->column("device").texts()[8], "1");
  EXPECT_EQ(table->column("device").texts()[16], "all");
  EXPECT_DOUBLE_EQ(times_us(*table, 0, 8).at("busy_time"), 8);
  EXPECT_DOUBLE_EQ(times_us(*table, 8, 16).at("idle_time"), 15);
  EXPECT_DOUBLE_EQ(times_us(*table, 16, 24).at("busy_time"), 15);
}

TEST(GpuTimesOfAnyEvents, DivideTheirOwnSpan) {
  TestTrace t;
  const EventId gemm = t.gpu({.name = "gemm", .ts = 10, .dur = 10});
  const EventId comm = t.gpu({.name = "ncclDevKernel", .ts = 15, .dur = 10, .stream = 9});
  t.gpu({.name = "left out", .ts = 25, .dur = 4});
  const EventId last = t.gpu({.name = "gemm", .ts = 30, .dur = 1});
  const Trace trace = t.finish();
  const EventId events[] = {gemm, comm, last};
  const GpuTimes times = gpu_times(trace, events, 10);
  EXPECT_EQ(times.total, 21000);
  EXPECT_EQ(times.busy, 16000);
  EXPECT_EQ(times.computation, 11000);
  EXPECT_EQ(times.exposed_comm, 5000);
  EXPECT_EQ(times.micro_idle, 5000);
  EXPECT_EQ(gpu_times(trace, {}).total, 0);
}

}  // namespace
}  // namespace tracelens
