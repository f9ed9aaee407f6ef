#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tracelens/rows.hpp>

#include "analysis/kit/test_ops.hpp"

namespace tracelens {
namespace {

using testing::ElementsAre;

Gpu small_gpu() {
  Gpu gpu;
  gpu.name = "small";
  gpu.memory_gbps = 1;                        // 1000 bytes per µs
  gpu.peak_tflops = {{"matrix_bf16", 1e-6}};  // one operation per µs
  return gpu;
}

TEST(PerfRows, GiveWorkTimeAndRatesOfEachEventInTheGivenOrder) {
  TestTrace t;
  const EventId add = t.op("aten::unheard_of", 0, 5);
  const EventId mm = t.op("aten::mm", 10, 10, matrices(2, 3, 4));
  t.launch("cudaLaunchKernel", 11, 1, {.name = "gemm", .ts = 20, .dur = 2});
  t.launch("cudaLaunchKernel", 13, 1,
           {.name = "void at::native::direct_copy_kernel_cuda", .ts = 22, .dur = 2});
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace);
  const Gpu gpu = small_gpu();
  OpRows rows{trace, tree, {.edition = Edition::kReference, .gpu = &gpu}};
  const EventId events[] = {mm, add};
  const Table table =
      rows.perf(events, {.without_data_movement = true, .arguments = true, .kernels = true});
  EXPECT_THAT(column(table, "name"), ElementsAre("aten::mm", "aten::unheard_of"));
  EXPECT_THAT(column(table, "cat"), ElementsAre("cpu_op", "cpu_op"));
  const double flops = 2.0 * 2 * 3 * 4, bytes = 2.0 * (2 * 3 + 3 * 4 + 2 * 4);
  EXPECT_DOUBLE_EQ(table.column("GFLOPS").reals()[0], flops / 1e9);
  EXPECT_EQ(cell(table, "Kernel Time (µs)", 0), "4.0");
  EXPECT_DOUBLE_EQ(table.column("TFLOPS/s").reals()[0], flops / 1e12 / 4e-6);
  EXPECT_EQ(cell(table, "Non-Data-Mov Kernel Time (µs)", 0), "2.0");
  EXPECT_DOUBLE_EQ(table.column("Non-Data-Mov TFLOPS/s").reals()[0], flops / 1e12 / 2e-6);
  EXPECT_DOUBLE_EQ(table.column("Data Moved (MB)").reals()[0], bytes / (1024 * 1024));
  EXPECT_DOUBLE_EQ(table.column("TB/s").reals()[0], bytes / 1e12 / 4e-6);
  EXPECT_EQ(cell(table, "Compute Spec", 0), "matrix_bf16");
  EXPECT_DOUBLE_EQ(table.column("Roofline Time (µs)").reals()[0], flops);
  EXPECT_EQ(cell(table, "Roofline Bound", 0), "COMPUTE_BOUND");
  EXPECT_DOUBLE_EQ(table.column("Pct Roofline").reals()[0], flops / 4 * 100);
  const Value& params = table.column("perf_params").nested()[0];
  EXPECT_EQ(params.find("K")->as_int(), 3);
  EXPECT_EQ(cell(table, "Input Dims", 0), "[[2, 3], [3, 4]]");  // lists, as there
  EXPECT_EQ(cell(table, "num_kernels", 0), "2");
  const Value& first_kernel = table.column("kernel_details").nested()[0].items()[0];
  EXPECT_EQ(first_kernel.find("gpu_op_uid")->as_int(), tree.linked_gpu_events()[0].row);
  EXPECT_EQ(cell(table, "problem", 0), "");
  EXPECT_EQ(cell(table, "problem_kind", 1), "no model");
  EXPECT_EQ(cell(table, "GFLOPS", 1), "");
  EXPECT_EQ(cell(table, "Kernel Time (µs)", 1), "0.0");
}

TEST(PerfRows, TheBackwardPassIsMeasuredByTheLinkedWrappers) {
  TestTrace t;
  Signature call = matrices(2, 3, 4);
  const EventId alone = t.op("aten::mm", 0, 10, call);
  t.launch("cudaLaunchKernel", 1, 1, {.name = "gemm", .ts = 20, .dur = 2});
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace);
  OpRows rows{trace, tree, {.edition = Edition::kReference}};
  const EventId events[] = {alone};
  const Table table = rows.perf(events, {.pass = Pass::kBackward});
  EXPECT_EQ(cell(table, "has_backward", 0), "False");
  EXPECT_EQ(cell(table, "Kernel Time (µs)", 0), "0.0");
  EXPECT_FALSE(rows.perf(events).has_column("has_backward"));
}

TEST(UnifiedRows, AccountForEveryGpuEventOnceAndNumberSyntheticOpsBehindTheTrace) {
  TestTrace t;
  const EventId mm = t.op("aten::mm", 0, 10, matrices(2, 3, 4));
  t.launch("cudaLaunchKernel", 1, 1, {.name = "gemm", .ts = 20, .dur = 2});
  const EventId call = t.launch("cudaLaunchKernel", 30, 1, {.name = "k", .ts = 40, .dur = 3}).call;
  t.op("c10d::allreduce_", 50, 10);
  t.launch("cudaLaunchKernel", 51, 1, {.name = "ncclDevKernel", .ts = 60, .dur = 4});
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace);
  RowOptions options{.edition = Edition::kReference};
  const Table table = OpRows{trace, tree, options}.unified({.callers = true});
  EXPECT_THAT(column(table, "name"), ElementsAre("aten::mm", "cudaLaunchKernel->k (Synthetic Op)"));
  EXPECT_THAT(column(table, "UID"),
              ElementsAre(std::to_string(mm.row), std::to_string(trace.size())));
  EXPECT_EQ(cell(table, "event", 1), std::to_string(call.row));
  EXPECT_THAT(column(table, "has_perf_model"), ElementsAre("True", "False"));
  EXPECT_THAT(column(table, "Kernel Time (µs)"), ElementsAre("2.0", "3.0"));
  EXPECT_THAT(column(table, "duration_us"), ElementsAre("10.0", "1.0"));
  EXPECT_EQ(cell(table, "GFLOPS", 1), "");
  EXPECT_FALSE(table.has_column("Roofline Time (µs)"));
  options.communication = true;
  EXPECT_THAT(column(OpRows{trace, tree, options}.unified(), "name"),
              ElementsAre("aten::mm", "c10d::allreduce_", "cudaLaunchKernel->k (Synthetic Op)"));
}

TEST(UnifiedRows, OpsThatTheCallerHasModelsForAreTakenWhole) {
  TestTrace t;
  t.op("my::block", 0, 30);
  t.op("aten::mm", 1, 10, matrices(2, 3, 4));
  t.launch("cudaLaunchKernel", 2, 1, {.name = "gemm", .ts = 20, .dur = 2});
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace);
  ModelSet mine;
  mine.add("my::block", {.category = "block"}, [](const OpCall&) -> OrReason<Work> {
    return Reason{Reason::Kind::kFailed, "later"};
  });
  const Table table =
      OpRows{trace, tree, {.edition = Edition::kReference, .models = &mine}}.unified();
  EXPECT_THAT(column(table, "name"), ElementsAre("my::block"));
  EXPECT_THAT(column(table, "op category"), ElementsAre("block"));
  EXPECT_THAT(column(table, "has_perf_model"), ElementsAre("True"));
  EXPECT_THAT(column(table, "Kernel Time (µs)"), ElementsAre("2.0"));
}

}  // namespace
}  // namespace tracelens
