#include "analysis/path/tables.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

struct Made {
  explicit Made(Trace a_trace)
      : trace{std::move(a_trace)},
        facts{trace, {.python_frames = true}},
        model{facts, {.window = {}, .correct_overhead = false, .costs = {}}} {}
  Trace trace;
  TraceFacts facts;
  PathModel model;
};

// A module's op launches a kernel, which the step waits for.
Trace one_step(EventId* kernel = nullptr) {
  TestTrace t;
  t.event(Category::kUserAnnotation, "ProfilerStep#3", 0, 150);
  t.python("nn.Module: Linear_0", 0, 30);
  t.op("aten::mm", 5, 20);
  const auto launch = t.launch("cudaLaunchKernel", 10, 5, {.name = "gemm", .ts = 20, .dur = 100});
  t.runtime("cudaDeviceSynchronize", 40, 85);
  if (kernel != nullptr) *kernel = launch.gpu;
  return t.finish();
}

std::string row_of(const Table& table, std::size_t row) {
  std::string text;
  for (std::size_t i = 0; i < table.columns().size(); ++i) {
    const Cell cell = table.cell(row, i);
    if (const auto* word = std::get_if<std::string>(&cell)) text += *word;
    if (const auto* number = std::get_if<double>(&cell)) text += std::to_string(*number);
    if (const auto* count = std::get_if<std::int64_t>(&cell)) text += std::to_string(*count);
    text += '|';
  }
  return text;
}

TEST(PathTables, EverySegmentSaysWhoseTimeItIs) {
  const Made made{one_step()};
  const Table table = critical_path_table(made.facts, made.model);
  ASSERT_EQ(table.rows(), 4u);
  EXPECT_EQ(row_of(table, 0),
            "0|0.000000|5.000000|host|host_op||aten::mm|aten::mm|nn.Module: Linear_0|nn.Module: "
            "Linear_0|ProfilerStep#3|");
  EXPECT_EQ(row_of(table, 1),
            "1|0.005000|10.000000|launch|launch_latency||gemm|aten::mm|nn.Module: "
            "Linear_0|nn.Module: Linear_0|ProfilerStep#3|");
  EXPECT_EQ(table.column("bound_by").texts()[2], "gpu_compute");
  EXPECT_EQ(table.column("name").texts()[3], "cudaDeviceSynchronize");
  EXPECT_TRUE(table.column("op").is_missing(3));
}

TEST(PathTables, TheSummaryHasClassesAndTheirNames) {
  const Made made{one_step()};
  const Table table = critical_path_summary(made.facts).table;
  ASSERT_EQ(table.rows(), 8u);
  EXPECT_EQ(row_of(table, 0), "gpu_compute||0.100000|83.333333|1|");
  EXPECT_EQ(row_of(table, 1), "gpu_compute|gemm|0.100000|83.333333|1|");
  EXPECT_EQ(row_of(table, 2), "launch_latency||0.010000|8.333333|1|");
}

TEST(PathTables, TheSummaryOfStretchesOfTime) {
  const Made made{one_step()};
  const std::int64_t first = made.trace.ts_ns()[0];
  const auto halves = [first] {
    return std::vector<Interval>{{first, first + 20'000}, {first + 30'000, first + 1'000'000}};
  };
  const auto parts = critical_path_summary(made.facts, halves).stretches;
  ASSERT_EQ(parts.size(), 2u);
  const auto at = [](BoundBy what) { return static_cast<std::size_t>(what); };
  EXPECT_EQ(parts[0][at(BoundBy::kLaunchLatency)], 10'000);
  EXPECT_EQ(parts[0][at(BoundBy::kGpuCompute)] + parts[1][at(BoundBy::kGpuCompute)], 90'000);
  EXPECT_EQ(parts[1][at(BoundBy::kHostOp)], 0);
}

TEST(PathTables, WhatIfTellsEachKindOfWork) {
  EventId kernel;
  const Made made{one_step(&kernel)};
  const WhatIfGroup groups[] = {{"op aten::mm", {kernel}}};
  const Table table = what_if_table(made.facts, made.model, groups);
  const auto saving = [&](std::string_view edit) {
    for (std::size_t row = 0; row < table.rows(); ++row)
      if (table.column("edit").texts()[row] == edit) return table.column("saving_ms").reals()[row];
    return -1.0;
  };
  EXPECT_DOUBLE_EQ(saving("op aten::mm = 0"), 0.085);  // the call itself begins at 40
  EXPECT_DOUBLE_EQ(saving("gpu_compute = 0"), 0.085);
  EXPECT_DOUBLE_EQ(saving("sync_return = 0"), 0.005);
  EXPECT_DOUBLE_EQ(saving("no sync"), 0.005);  // the kernel still ends at 120
  EXPECT_DOUBLE_EQ(saving("no communication"), -1);
}

TEST(PathTables, NothingOfAnEmptyTrace) {
  const Made made{TestTrace{}.finish()};
  EXPECT_EQ(critical_path_table(made.facts, made.model).rows(), 0u);
  EXPECT_EQ(critical_path_summary(made.facts).table.rows(), 0u);
  EXPECT_EQ(what_if_table(made.facts, made.model, {}).rows(), 0u);
}

// Several threads walk the path in parts, wherever it runs: on the host, on the GPU, or on one after the
// other; where a part began on a way that was not the path it is walked once more.
TEST(PathTables, TheSummaryIsTheSameForAnyNumberOfThreads) {
  constexpr int kRounds = 30'000;
  for (const int seed : {1, 2, 3, 4}) {
    std::mt19937 random{static_cast<std::uint32_t>(seed)};
    const auto below = [&](int most) { return static_cast<int>(random() % 1000) % most; };
    TestTrace t;
    double gpu_free = 0, now = 0;
    const double gpu_us = seed == 1 ? 1 : seed == 2 ? 200 : 12;
    for (int i = 0; i < kRounds; ++i) {
      t.op(i % 3 == 0 ? "aten::mm" : "aten::add", now, 10);
      const double start = std::max(gpu_free, now + 8);
      gpu_free = start + gpu_us + below(5);
      t.launch("cudaLaunchKernel", now + 2, 5,
               {.name = "k", .ts = start, .dur = gpu_free - start, .stream = 7 + i % seed});
      now += 10 + below(4);
      if (seed == 4 && below(100) == 0) {
        const double end = std::max(gpu_free, now) + 3;
        t.runtime("cudaDeviceSynchronize", now, end - now);
        now = end + 1;
      }
    }
    const Trace trace = t.finish();
    const auto rows = [&](int threads) {
      const Interval half{0, static_cast<std::int64_t>(now * 500)};
      const PathSummary summary = critical_path_summary(TraceFacts{trace, {.threads = threads}},
                                                        [&] { return std::vector{half}; });
      std::vector<std::string> all;
      for (std::size_t row = 0; row < summary.table.rows(); ++row)
        all.push_back(row_of(summary.table, row));
      for (const std::int64_t ns : summary.stretches.at(0)) all.push_back(std::to_string(ns));
      return all;
    };
    const std::vector<std::string> by_one = rows(1);
    EXPECT_GT(by_one.size(), 14u);
    EXPECT_EQ(rows(8), by_one);
  }
}

}  // namespace
}  // namespace tracelens
