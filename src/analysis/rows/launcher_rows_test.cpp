#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tracelens/rows.hpp>

#include "analysis/kit/test_ops.hpp"

namespace tracelens {
namespace {

using testing::ElementsAre;

std::vector<std::string> column_names(const Table& table) {
  std::vector<std::string> names;
  for (const Table::Column& column : table.columns()) names.push_back(column.spec().name);
  return names;
}

const RowOptions kReference{.edition = Edition::kReference};

Table launcher_rows(const Trace& trace, const Tree& tree, const LauncherColumns& columns,
                    const RowOptions& options) {
  return OpRows{trace, tree, options}.launchers(columns);
}

TEST(LauncherRows, TheColumnsAreThoseOfThePythonTraceLens) {
  const Trace trace = TestTrace{}.finish();
  const Tree tree = build_tree(trace);
  EXPECT_THAT(column_names(launcher_rows(trace, tree, {}, kReference)),
              ElementsAre("name", "op category", "UID", "total_direct_kernel_time",
                          "total_subtree_kernel_time", "direct_kernel_count",
                          "overlapping_kernel_names", "overlapping_kernels_details", "overlap_pct",
                          "Input Dims", "Input type", "Input Strides", "Concrete Inputs",
                          "process_name", "process_label", "thread_name"));
  const LauncherColumns all{.start = true, .ids = true, .kernels = true, .modules = true};
  RowOptions options = kReference;
  options.recompute = true;
  EXPECT_THAT(
      column_names(launcher_rows(trace, tree, all, options)),
      ElementsAre("name", "op category", "UID", "total_direct_kernel_time",
                  "total_subtree_kernel_time", "direct_kernel_count", "overlapping_kernel_names",
                  "overlapping_kernels_details", "overlap_pct", "ts", "Input Dims", "Input type",
                  "Input Strides", "Concrete Inputs", "pid", "tid", "external_id", "kernel_details",
                  "num_kernels", "call_stack", "parent_module", "process_name", "process_label",
                  "thread_name", "is_recompute"));
}

TEST(LauncherRows, AnOpHasItsOwnKernelsByStartAndTheTimeOfAllBelow) {
  TestTrace t;
  const EventId outer = t.op("aten::linear", 0, 30);
  const EventId inner = t.op("aten::mm", 2, 10, matrices(2, 3, 4));
  t.launch("cudaLaunchKernel", 3, 1, {.name = "gemm", .ts = 40, .dur = 4});
  t.launch("cudaLaunchKernel", 5, 1, {.name = "fill", .ts = 30, .dur = 2, .stream = 9});
  t.launch("cudaLaunchKernel", 20, 1, {.name = "bias", .ts = 50, .dur = 1.5});
  const Trace trace = t.finish();
  const Table table = launcher_rows(trace, build_tree(trace),
                                    {.start = true, .ids = true, .kernels = true}, kReference);
  EXPECT_THAT(column(table, "name"), ElementsAre("aten::linear", "aten::mm"));
  EXPECT_THAT(column(table, "UID"),
              ElementsAre(std::to_string(outer.row), std::to_string(inner.row)));
  EXPECT_THAT(column(table, "ts"), ElementsAre("0.0", "2.0"));
  EXPECT_THAT(column(table, "total_direct_kernel_time"), ElementsAre("1.5", "6.0"));
  EXPECT_THAT(column(table, "total_subtree_kernel_time"), ElementsAre("7.5", "6.0"));
  EXPECT_THAT(column(table, "num_kernels"), ElementsAre("1", "2"));
  EXPECT_EQ(cell(table, "kernel_details", 1),
            "[{'name': 'fill', 'dur': 2.0, 'stream': 9}, "
            "{'name': 'gemm', 'dur': 4.0, 'stream': 7}]");
  EXPECT_EQ(cell(table, "Input Dims", 1), "((2, 3), (3, 4))");
  EXPECT_EQ(cell(table, "Input Dims", 0), "");
  EXPECT_EQ(cell(table, "pid", 0), "100");
  EXPECT_EQ(table.column("pid").spec().kind, Kind::kInteger);
}

TEST(LauncherRows, CommunicationIsChargedOnRequest) {
  TestTrace t;
  t.op("c10d::allreduce_", 0, 10);
  t.launch("cudaLaunchKernel", 1, 1, {.name = "ncclDevKernel_AllReduce", .ts = 20, .dur = 4});
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace);
  EXPECT_EQ(launcher_rows(trace, tree, {}, kReference).rows(), 0u);
  RowOptions options = kReference;
  options.communication = true;
  const Table table = launcher_rows(trace, tree, {}, options);
  EXPECT_THAT(column(table, "name"), ElementsAre("c10d::allreduce_"));
  EXPECT_THAT(column(table, "total_direct_kernel_time"), ElementsAre("4.0"));
}

TEST(LauncherRows, WhatRanAtTheSameTimeIsTakenFromAllGpuEventsThatCount) {
  TestTrace t;
  t.op("aten::mm", 0, 10);
  t.launch("cudaLaunchKernel", 1, 1, {.name = "gemm", .ts = 20, .dur = 10});
  t.op("aten::copy_", 20, 10);
  t.launch("cudaMemcpyAsync", 21, 1, {.name = "copy", .ts = 25, .dur = 10, .stream = 9});
  t.gpu({.name = "stray", .ts = 20, .dur = 4, .stream = 11});
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace);
  const Table linked = launcher_rows(trace, tree, {}, kReference);
  EXPECT_THAT(column(linked, "overlapping_kernel_names"), ElementsAre("['copy']", "['gemm']"));
  EXPECT_EQ(cell(linked, "overlapping_kernels_details", 0),
            "[{'name': 'copy', 'dur': 10.0, 'stream': 9, 'overlap_pct': 0.5}]");
  EXPECT_THAT(column(linked, "overlap_pct"), ElementsAre("0.5", "0.5"));
  RowOptions options = kReference;
  options.include_unlinked = true;
  EXPECT_EQ(cell(launcher_rows(trace, tree, {}, options), "overlapping_kernel_names", 0),
            "['stray', 'copy']");
}

TEST(LauncherRows, ModulesComeFromATreeWithPythonFrames) {
  TestTrace t;
  t.python("nn.Module: Block_3", 0, 50);
  t.python("nn.Module: Linear_12", 1, 40);
  t.op("aten::mm", 2, 10);
  t.launch("cudaLaunchKernel", 3, 1, {.name = "gemm", .ts = 40, .dur = 4});
  t.op("aten::add", 60, 10);
  t.launch("cudaLaunchKernel", 61, 1, {.name = "add", .ts = 70, .dur = 4});
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace, {.python_frames = true});
  const Table table = launcher_rows(trace, tree, {.modules = true}, kReference);
  EXPECT_EQ(cell(table, "call_stack", 0),
            "['aten::mm', 'nn.Module: Linear_12', 'nn.Module: Block_3']");
  EXPECT_THAT(column(table, "parent_module"), ElementsAre("nn.Module: Linear", "NA"));
}

TEST(LauncherRows, ATimeIsTheDoubleNearestToWhatTheFileSays) {
  TestTrace t;
  t.op("aten::mm", 0, 10);
  t.launch("cudaLaunchKernel", 1, 1, {.name = "gemm", .ts = 20, .dur = 10});
  TraceBuilder& builder = t.builder();
  const std::int64_t epoch_ns = 1'700'000'000'123'456'789;  // more digits than a double has
  builder.append({.phase = Phase::kComplete,
                  .category = Category::kKernel,
                  .name = builder.intern("late"),
                  .track = builder.intern(Track{0, 7}),
                  .signature = {},
                  .ts_ns = epoch_ns,
                  .dur_ns = 1000});
  const Trace trace = t.finish();
  const Table table = OpRows{trace, build_tree(trace), kReference}.kernels();
  EXPECT_EQ(table.column("Kernel t start").reals()[1], 1700000000123456.789);
}

}  // namespace
}  // namespace tracelens
