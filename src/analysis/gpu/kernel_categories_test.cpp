#include "analysis/gpu/kernel_categories.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/kit/test_ops.hpp"

namespace tracelens {
namespace {

using testing::ElementsAre;

TEST(KernelCategories, SharesAreOfTheKernelTimeOfEachCall) {
  TestTrace t;
  t.op("aten::linear", 0, 10);
  t.launch("cudaLaunchKernel", 1, 1, {.name = "gemm", .ts = 100, .dur = 6});
  t.launch("cudaLaunchKernel", 3, 1, {.name = "reduce_kernel", .ts = 110, .dur = 2});
  t.op("aten::linear", 20, 10);
  t.launch("cudaLaunchKernel", 21, 1, {.name = "gemm", .ts = 120, .dur = 5});
  t.launch("cudaGraphLaunch", 30, 1, {.name = "gemm", .ts = 200, .dur = 3});
  t.gpu({.name = "gemm", .ts = 300, .dur = 4});
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  const Table table =
      kernel_categories(trace, collect_kernels(facts), KernelRules::built_in()).value();
  EXPECT_THAT(column(table, "Parent cpu_op"),
              ElementsAre("aten::linear", "", "cudaGraphLaunch", "aten::linear"));
  EXPECT_THAT(column(table, "Kernel category"), ElementsAre("gemm", "gemm", "gemm", "reduce"));
  EXPECT_THAT(column(table, "Calls"), ElementsAre("2", "", "1", "1"));
  // 6 of 8 and 5 of 5.
  EXPECT_EQ(cell(table, "Share of call (%)_mean", 0), "87.5");
  EXPECT_EQ(cell(table, "Share of call (%)_min", 0), "75.0");
  EXPECT_EQ(cell(table, "Share of call (%)_mean", 1), "");
  EXPECT_DOUBLE_EQ(table.column("Percent of kernels time (%)").reals()[0], 55);  // 11 of 20
}

}  // namespace
}  // namespace tracelens
