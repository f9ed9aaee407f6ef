#include "analysis/path/hta.hpp"

#include <gtest/gtest.h>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

TEST(HtaPath, TimeBetweenTopLevelOpsWeighsNothing) {
  TestTrace t;
  t.op("aten::mm", 0, 10);
  t.op("aten::add", 50, 10);
  const Trace trace = t.finish();
  const HtaPath path = find_hta_critical_path(trace, std::nullopt);
  EXPECT_EQ(path.length_ns, 20000);
  EXPECT_EQ(path.nodes, 4u);
  EXPECT_EQ(path.events, 2u);
  EXPECT_EQ(path.edges_by_kind[static_cast<std::size_t>(HtaEdgeKind::kDependency)], 1u);
  EXPECT_EQ(path.edges.front().bound_by(trace), "cpu_bound");
}

TEST(HtaPath, AKernelFollowsItsLaunchWhenNothingWaits) {
  TestTrace t;
  t.op("aten::mm", 0, 10);
  t.launch("cudaLaunchKernel", 2, 4, {.name = "gemm", .ts = 12, .dur = 100});
  t.launch("cudaLaunchKernel", 20, 4, {.name = "gemm", .ts = 115, .dur = 10});
  const Trace trace = t.finish();
  const HtaPath path = find_hta_critical_path(trace, std::nullopt);
  // op 2, launch delay 10, kernel 100, gap 3, kernel 10
  EXPECT_EQ(path.length_ns, 125000);
  EXPECT_EQ(path.edges_by_kind[static_cast<std::size_t>(HtaEdgeKind::kLaunchDelay)], 1u);
  EXPECT_EQ(path.edges_by_kind[static_cast<std::size_t>(HtaEdgeKind::kKernelGap)], 1u);
}

TEST(HtaPath, LoadingDataCountsBesideWhatItCalls) {
  TestTrace t;
  t.python("torch/_ops.py(1): _record_function_enter_new", 0, 3);
  t.event(Category::kUserAnnotation, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
          1, 50);
  t.op("aten::stack", 10, 10);
  const Trace trace = t.finish();
  EXPECT_EQ(find_hta_critical_path(trace, std::nullopt).length_ns, 60000);
}

TEST(HtaPath, OnlyTheWindowTakesPart) {
  TestTrace t;
  t.op("aten::mm", 0, 10);
  t.op("aten::add", 50, 10);
  const Trace trace = t.finish();
  EXPECT_EQ(find_hta_critical_path(trace, Interval{40000, 90000}).length_ns, 10000);
  EXPECT_EQ(find_hta_critical_path(trace, Interval{400000, 900000}).nodes, 0u);
}

}  // namespace
}  // namespace tracelens
