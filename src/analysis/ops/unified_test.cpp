#include "analysis/ops/unified.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/kit/test_ops.hpp"

namespace tracelens {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

Table unified(TestTrace& t, const OpTableOptions& options = {}, bool python = false) {
  const Trace trace = t.finish();
  const TraceFacts facts{trace, {.python_frames = python}};
  OpInput input{facts, options};
  return unified_perf_summary(input, collect_unified_ops(input)).value();
}

TEST(Unified, TheOutermostOpWithAModelStandsForAllBelowIt) {
  TestTrace t;
  t.op("aten::linear", 0, 100);
  t.op("aten::mm", 10, 50, matrices(2, 3, 4));
  t.op("aten::helper", 20, 10);
  t.launch("cudaLaunchKernel", 21, 1, {.name = "gemm", .ts = 200, .dur = 2});
  t.op("aten::plain", 70, 20);
  t.launch("cudaLaunchKernel", 71, 1, {.name = "k", .ts = 300, .dur = 1});
  const Table table = unified(t);
  EXPECT_THAT(column(table, "name"), ElementsAre("aten::mm", "aten::plain"));
  EXPECT_THAT(column(table, "has_perf_model"), ElementsAre("True", "False"));
  EXPECT_EQ(cell(table, "GFLOPS", 0), "4.8e-08");  // 2 * 2 * 3 * 4 FLOPs
  EXPECT_EQ(cell(table, "GFLOPS", 1), "");
  EXPECT_EQ(cell(table, "TFLOPS/s_mean", 0), "2.4e-05");  // 48 FLOPs in 2 us
  EXPECT_EQ(cell(table, "Compute Spec", 0), "matrix_bf16");
  EXPECT_EQ(cell(table, "total_duration_us", 0), "50.0");
}

TEST(Unified, WhatNoOpAccountsForGetsAMadeUpOne) {
  TestTrace t;
  t.op("aten::outer", 0, 100);  // looked through, since a model is below
  t.launch("cudaLaunchKernel", 1, 1, {.name = "stray", .ts = 200, .dur = 9});
  const EventId mm = t.op("aten::mm", 10, 50, matrices(2, 3, 4));
  t.launch("cudaLaunchKernel", 11, 1, {.name = "gemm", .ts = 300, .dur = 2});
  t.launch("cudaGraphLaunch", 110, 1, {.name = "replayed", .ts = 400, .dur = 5});
  t.launch("cudaLaunchKernel", 120, 1, {.name = "ncclKernel", .ts = 500, .dur = 5});
  const Table table = unified(t);
  EXPECT_THAT(column(table, "name"),
              ElementsAre("aten::outer->stray (Synthetic Op)",
                          "cudaGraphLaunch->replayed (Synthetic Op)", "aten::mm"));
  EXPECT_EQ(cell(table, "ex_UID", 2), std::to_string(mm.row));
  // Orphans are numbered first, from behind the last event on.
  EXPECT_GT(std::stoi(cell(table, "ex_UID", 0)), std::stoi(cell(table, "ex_UID", 1)));
}

TEST(Unified, AnOpThatCommunicatesIsLeftToTheCollectiveTables) {
  TestTrace t;
  t.op("aten::mm", 0, 10, matrices(2, 3, 4));
  t.launch("cudaLaunchKernel", 1, 1, {.name = "gemm", .ts = 100, .dur = 2});
  t.op("c10d::allreduce_", 20, 10);
  t.launch("cudaLaunchKernel", 21, 1, {.name = "ncclDevKernel", .ts = 200, .dur = 5});
  EXPECT_THAT(column(unified(t), "name"), ElementsAre("aten::mm"));
}

// The driver's launches make no leaf in the reference (O9); ours looks through them.
TEST(Unified, DriverLaunchesBelongToTheOpInTheExtendedEdition) {
  const auto make = [](Edition edition) {
    TestTrace t;
    t.op("my::op", 0, 10);
    t.event(Category::kCudaDriver, "cuLaunchKernel", 1, 1, 1, 77);
    t.gpu({.name = "k", .ts = 100, .dur = 2}, 77);
    t.flow_start(77);
    t.flow_end(77);
    return unified(t, {.edition = edition});
  };
  EXPECT_THAT(column(make(Edition::kReference), "name"), ElementsAre("my::op->k (Synthetic Op)"));
  EXPECT_THAT(column(make(Edition::kExtended), "name"), ElementsAre("my::op"));
}

TEST(Unified, RecomputedCallsStandApart) {
  TestTrace t;
  t.python("train.py(1): step", 0, 100);
  t.op("aten::mm", 1, 10, matrices(2, 3, 4));
  t.launch("cudaLaunchKernel", 2, 1, {.name = "gemm", .ts = 200, .dur = 2});
  t.python("torch/utils/checkpoint.py(99): recompute_fn", 20, 50);
  t.op("aten::mm", 21, 10, matrices(2, 3, 4));
  t.launch("cudaLaunchKernel", 22, 1, {.name = "gemm", .ts = 300, .dur = 3});
  const Table table = unified(t, {.split_recompute = true}, true);
  EXPECT_THAT(column(table, "is_recompute"), ElementsAre("True", "False"));
}

TEST(Unified, RooflineColumnsComeWithAGpu) {
  TestTrace t;
  t.op("aten::mm", 0, 10, matrices(1000, 1000, 1000));
  t.launch("cudaLaunchKernel", 1, 1, {.name = "gemm", .ts = 100, .dur = 8});
  Gpu gpu;
  gpu.memory_gbps = 1000;
  gpu.peak_tflops["matrix_bf16"] = 500;
  const Table table = unified(t, {.gpu = &gpu});
  // 2e9 FLOPs at 500 TFLOP/s: 4 us; 6e6 bytes at 1000 GB/s: 6 us.
  EXPECT_EQ(cell(table, "Roofline Time (µs)_first", 0), "6.0");
  EXPECT_EQ(cell(table, "Roofline Bound", 0), "MEMORY_BOUND");
  EXPECT_EQ(cell(table, "Pct Roofline_mean", 0), "75.0");
}

}  // namespace
}  // namespace tracelens
