#include "analysis/gpu/kernels.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

std::string text(const Table& table, std::string_view column, std::size_t row) {
  return table.column(column).texts()[row];
}
double real(const Table& table, std::string_view column, std::size_t row) {
  return table.column(column).reals()[row];
}

TEST(CollectKernels, AnOpsCategoryFollowsItsFirstKernelThatIsNoCommunication) {
  TestTrace t;
  t.op("my::op", 0, 100);
  t.launch("cudaLaunchKernel", 20, 5,
           {.name = "void at::native::elementwise_kernel", .ts = 200, .dur = 1});
  t.launch("cudaLaunchKernel", 30, 5,
           {.name = "void at::native::reduce_kernel", .ts = 150, .dur = 1});
  t.launch("cudaLaunchKernel", 40, 5, {.name = "ncclKernel", .ts = 100, .dur = 1});
  const Trace trace = t.finish();
  for (const KernelRow& row : collect_kernels(TraceFacts{trace}))
    EXPECT_EQ(row.op_category, "reduce");
}

TEST(KernelSummary, GroupsByOpKernelAndStreamTheCostliestFirst) {
  TestTrace t;
  t.op("aten::mm", 0, 10);
  t.launch("cudaLaunchKernel", 1, 1, {.name = "gemm", .ts = 100, .dur = 4});
  t.launch("cudaLaunchKernel", 3, 1, {.name = "gemm", .ts = 110, .dur = 6});
  t.launch("cudaLaunchKernel", 5, 1, {.name = "gemm", .ts = 120, .dur = 20, .stream = 9});
  t.launch("cudaGraphLaunch", 20, 1, {.name = "replayed", .ts = 200, .dur = 3});
  t.launch("cudaLaunchKernel", 30, 1, {.name = "bare", .ts = 210, .dur = 2});
  t.gpu({.name = "unlinked", .ts = 300, .dur = 5});
  t.launch("cudaMemcpyAsync", 40, 1,
           {.name = "copy", .ts = 220, .dur = 50, .category = Category::kGpuMemcpy});
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  const auto table = kernel_summary(trace, collect_kernels(facts), 80'000);
  ASSERT_TRUE(table);
  ASSERT_EQ(table->rows(), 5u);
  EXPECT_EQ(text(*table, "Parent op category", 0), "GEMM");
  EXPECT_EQ(text(*table, "Parent cpu_op", 0), "aten::mm");
  EXPECT_EQ(table->column("Kernel stream").integers()[0], 9);
  EXPECT_DOUBLE_EQ(real(*table, "Kernel duration (µs)_sum", 1), 10);
  EXPECT_EQ(table->column("Kernel duration (µs)_count").integers()[1], 2);
  EXPECT_DOUBLE_EQ(real(*table, "Kernel duration (µs)_mean", 1), 5);
  EXPECT_DOUBLE_EQ(real(*table, "Kernel duration (µs)_min", 1), 4);
  EXPECT_DOUBLE_EQ(real(*table, "Kernel duration (µs)_max", 1), 6);
  EXPECT_DOUBLE_EQ(real(*table, "Percent of kernels time (%)", 1), 10.0 / 40 * 100);
  EXPECT_DOUBLE_EQ(real(*table, "Percent of total time (%)", 1), 10.0 / 80 * 100);
  EXPECT_EQ(text(*table, "Kernel name", 2), "unlinked");
  EXPECT_TRUE(table->column("Parent op category").is_missing(2));
  EXPECT_TRUE(table->column("Parent cpu_op").is_missing(2));
  EXPECT_EQ(text(*table, "Parent op category", 3), "graph");
  EXPECT_EQ(text(*table, "Parent cpu_op", 3), "cudaGraphLaunch");
  EXPECT_EQ(text(*table, "Parent op category", 4), "runtime");
}

TEST(KernelSummary, WithoutOpsThereIsNoOpColumnAndWithoutKernelsNoTable) {
  TestTrace t;
  t.launch("hipLaunchKernel", 0, 1, {.name = "k", .ts = 5, .dur = 1});
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  const auto table = kernel_summary(trace, collect_kernels(facts), 1000);
  ASSERT_TRUE(table);
  EXPECT_FALSE(table->has_column("Parent cpu_op"));
  EXPECT_EQ(text(*table, "Parent op category", 0), "runtime");
  EXPECT_FALSE(kernel_summary(trace, {}, 1000));
}

KernelRows kernels_of(std::initializer_list<double> durations_us) {
  KernelRows rows;
  for (const double us : durations_us)
    rows.push_back({.event = {},
                    .name = {0},
                    .dur_ns = static_cast<std::int64_t>(us * 1000),
                    .stream = kAbsent,
                    .launch = {},
                    .op = {},
                    .op_category = {}});
  return rows;
}

TEST(ShortKernelHistogram, BinsAreEqualAndTheLastIncludesItsEnd) {
  const Table table =
      short_kernel_histogram(kernels_of({1, 2, 2.5, 3, 5, 9.999, 10, 50}), {.histogram_bins = 4});
  // Short: 1 to 9.999; the bins are 2.24975 wide.
  ASSERT_EQ(table.rows(), 4u);
  const auto counts = table.column("count").integers();
  EXPECT_EQ(counts[0], 4);  // 1, 2, 2.5, 3
  EXPECT_EQ(counts[1], 1);  // 5
  EXPECT_EQ(counts[2], 0);
  EXPECT_EQ(counts[3], 1);  // 9.999
  EXPECT_DOUBLE_EQ(table.column("bin_start").reals()[0], 1);
  EXPECT_DOUBLE_EQ(table.column("bin_end").reals()[3], 9.999);
}

TEST(ShortKernelHistogram, OneDurationGetsABinOfItsOwnAndNoneNoRows) {
  const Table one = short_kernel_histogram(kernels_of({4, 4}), {.histogram_bins = 2});
  ASSERT_EQ(one.rows(), 2u);
  EXPECT_DOUBLE_EQ(one.column("bin_start").reals()[0], 3.5);
  EXPECT_EQ(one.column("count").integers()[1], 2);
  EXPECT_EQ(short_kernel_histogram(kernels_of({11})).rows(), 0u);
}

Signature shape(int n, const char* type) {
  return {.name = {},
          .dims = Value::tuple({Value::tuple({n})}),
          .types = Value::tuple({type}),
          .strides = Value::tuple({Value::tuple({1})}),
          .concrete = Value::tuple({""})};
}

TEST(ShortKernelsSummary, GroupsByShownArgumentsOnlyAndDropsOpsWithoutThem) {
  TestTrace t;
  const auto op_with_kernel = [&](double ts, Signature signature, double dur) {
    t.op("aten::relu", ts, 5, signature);
    t.launch("cudaLaunchKernel", ts + 1, 1, {.name = "relu", .ts = ts + 2, .dur = dur});
  };
  op_with_kernel(0, shape(8, "float"), 1);
  op_with_kernel(10, shape(8, "c10::Half"), 2);  // the type is not shown
  op_with_kernel(20, shape(4, "float"), 7);
  op_with_kernel(30, shape(4, "float"), 10);  // not short
  t.op("no arguments", 40, 5);
  t.launch("cudaLaunchKernel", 41, 1, {.name = "relu", .ts = 42, .dur = 1});
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  const KernelRows rows = collect_kernels(facts);
  const Table table = short_kernels_summary(facts, rows, 100'000);
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_DOUBLE_EQ(real(table, "Short Kernel duration (µs) sum", 0), 7);
  EXPECT_EQ(table.column("Short Kernel count").integers()[1], 2);
  EXPECT_DOUBLE_EQ(real(table, "Short Kernel duration (µs) mean", 1), 1.5);
  EXPECT_DOUBLE_EQ(real(table, "Short Kernel duration (µs) percent of total time", 1), 3);
  EXPECT_EQ(table.column("Input dims").nested()[1], Value::tuple({Value::tuple({8})}));
  EXPECT_EQ(short_kernels_summary(facts, rows, 100'000, {.top_rows = 1}).rows(), 1u);
}

TEST(ShortKernelsSummary, AGpuOnlyTraceGroupsByKernelAlone) {
  TestTrace t;
  t.launch("hipLaunchKernel", 0, 1, {.name = "k", .ts = 5, .dur = 1});
  t.launch("hipLaunchKernel", 2, 1, {.name = "k", .ts = 7, .dur = 2});
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  const Table table = short_kernels_summary(facts, collect_kernels(facts), 10'000);
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_FALSE(table.has_column("Input dims"));
  EXPECT_DOUBLE_EQ(real(table, "Short Kernel duration (µs) sum", 0), 3);
}

}  // namespace
}  // namespace tracelens
