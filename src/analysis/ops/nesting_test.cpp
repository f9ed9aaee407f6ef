// Ops inside each other without end: tables stay in proportion to the trace.
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/kit/test_ops.hpp"
#include "analysis/ops/category_sheets.hpp"
#include "analysis/ops/input.hpp"

namespace tracelens {
namespace {

constexpr const char* kKernels = "kernel_details__summarize_kernel_stats";

// The innermost op launches all kernels.
Trace nested(int depth, int kernels, bool distinct) {
  TestTrace t;
  const double width = 10.0 * (depth + kernels);
  for (int i = 0; i < depth; ++i)
    t.op("aten::mm", i, width - 2 * i, matrices(distinct ? i + 1 : 2, 3, 4));
  for (int k = 0; k < kernels; ++k)
    t.launch("cudaLaunchKernel", depth + 1 + 4 * k, 1,
             {.name = "gemm", .ts = 100'000.0 + 10 * k, .dur = 1.0 + k % 3});
  return t.finish();
}

std::size_t kernels_listed(const Table& table) {
  std::size_t listed = 0;
  for (const Value& cell : table.column(kKernels).nested()) listed += cell.items().size();
  return listed;
}

TEST(Nesting, KernelsAreListedInProportionToTheTraceAndTheRestIsSaid) {
  const Trace trace = nested(600, 500, true);
  const TraceFacts facts{trace};
  OpInput input{facts, {}};
  const std::vector<Table> tables = category_sheets(input);
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables[0].rows(), 600u);
  EXPECT_LE(kernels_listed(tables[0]), input.kernels_per_table());
  EXPECT_EQ(cell(tables[0], "Kernel Time (µs)_sum", 599), "999.0");
  EXPECT_EQ(cell(tables[0], kKernels, 599), "");
  ASSERT_EQ(input.warnings().size(), 1u);
  EXPECT_NE(input.warnings()[0].find("nested too deep"), std::string::npos);
}

TEST(Nesting, TheSameKernelsInEqualOpsAreKeptOnceAndCounted) {
  const Trace trace = nested(50, 12, false);
  const TraceFacts facts{trace};
  OpInput input{facts, {}};
  const std::vector<Table> tables = category_sheets(input);
  ASSERT_EQ(tables.size(), 1u);
  ASSERT_EQ(tables[0].rows(), 1u);
  const Value& kernels = tables[0].column(kKernels).nested()[0];
  ASSERT_EQ(kernels.items().size(), 12u);
  EXPECT_EQ(kernels.items()[0].find("count")->as_int(), 50);
  EXPECT_DOUBLE_EQ(kernels.items()[0].find("total_duration_us")->as_real(), 50);
  EXPECT_DOUBLE_EQ(kernels.items()[11].find("median_duration_us")->as_real(), 3);
  EXPECT_DOUBLE_EQ(kernels.items()[11].find("std_dev_duration_us")->as_real(), 0);
  EXPECT_TRUE(input.warnings().empty());
}

// The busy time of a range is a subtraction where it can be: it must not differ where it cannot.
TEST(Nesting, BusyTimeOfOpsWhoseKernelsOverlapWithEarlierOnes) {
  TestTrace t;
  t.op("aten::a", 0, 100, matrices(1, 1, 1));
  t.launch("cudaLaunchKernel", 1, 1, {.name = "long", .ts = 200, .dur = 50, .stream = 1});
  const EventId inner = t.op("aten::b", 10, 80, matrices(1, 1, 1));
  t.launch("cudaLaunchKernel", 11, 1, {.name = "x", .ts = 210, .dur = 10, .stream = 2});
  t.launch("cudaLaunchKernel", 13, 1, {.name = "y", .ts = 215, .dur = 10, .stream = 3});
  t.launch("cudaLaunchKernel", 15, 1, {.name = "z", .ts = 205, .dur = 2, .stream = 4});
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  OpInput input{facts, {}};
  EXPECT_EQ(input.ops.forward(inner).busy_ns, 17'000);
  EXPECT_EQ(input.launches.busy_ns(facts.tree().node(inner)), 17'000);
  EXPECT_EQ(input.launches.busy_ns(facts.tree().parent(facts.tree().node(inner))), 50'000);
}

}  // namespace
}  // namespace tracelens
