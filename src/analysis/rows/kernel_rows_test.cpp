#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tracelens/rows.hpp>

#include "analysis/kit/test_ops.hpp"

namespace tracelens {
namespace {

using testing::ElementsAre;

const RowOptions kReference{.edition = Edition::kReference};

Table kernel_rows(const Trace& trace, const Tree& tree, const KernelColumns& columns) {
  return OpRows{trace, tree, kReference}.kernels(columns);
}

class KernelRowsOfAModule : public testing::Test {
 protected:
  KernelRowsOfAModule() {
    t_.python("nn.Module: Linear_0", 0, 50);
    op_ = t_.op("aten::mm", 2, 10, matrices(2, 3, 4));
    call_ = t_.launch("cudaLaunchKernel", 3, 1, {.name = "gemm", .ts = 40, .dur = 6}).call;
    t_.launch("cudaLaunchKernel", 5, 1, {.name = "split", .ts = 46, .dur = 2});
    t_.launch("cudaMemcpyAsync", 7, 1,
              {.name = "copy", .ts = 48, .dur = 2, .category = Category::kGpuMemcpy});
    t_.gpu({.name = "stray", .ts = 60, .dur = 4, .stream = 11});
  }
  TestTrace t_;
  EventId op_, call_;
};

TEST_F(KernelRowsOfAModule, CopiesAreNoKernelsAndUnlinkedOnesHaveNoOp) {
  const Trace trace = t_.finish();
  const Table table = kernel_rows(trace, build_tree(trace), {.launch = true});
  EXPECT_THAT(column(table, "Kernel name"), ElementsAre("gemm", "split", "stray"));
  EXPECT_THAT(column(table, "Kernel t start"), ElementsAre("40.0", "46.0", "60.0"));
  EXPECT_THAT(column(table, "Kernel stream"), ElementsAre("7", "7", "11"));
  EXPECT_THAT(column(table, "Launcher"), ElementsAre("cudaLaunchKernel", "cudaLaunchKernel", ""));
  EXPECT_EQ(cell(table, "Launcher UID", 0), std::to_string(call_.row));
  EXPECT_THAT(column(table, "Parent cpu_op"), ElementsAre("aten::mm", "aten::mm", ""));
  EXPECT_EQ(cell(table, "Parent cpu_op UID", 0), std::to_string(op_.row));
  EXPECT_EQ(cell(table, "Input types", 0), "('c10::BFloat16', 'c10::BFloat16')");
  // The op's GPU time has the copy in it.
  EXPECT_THAT(column(table, "Parent cpu_op busy time (µs)"), ElementsAre("10.0", "10.0", ""));
  EXPECT_THAT(column(table, "Parent cpu_op kernel count"), ElementsAre("3", "3", ""));
  EXPECT_THAT(column(table, "Percent of Parent cpu_op busy time (%)"),
              ElementsAre("60.0", "20.0", ""));
  EXPECT_THAT(column(table, "Parent op category"), ElementsAre("GEMM", "GEMM", ""));
}

TEST_F(KernelRowsOfAModule, ModulesComeFromATreeWithPythonFrames) {
  const Trace trace = t_.finish();
  const KernelColumns chosen{.op = false, .module = true};
  EXPECT_FALSE(kernel_rows(trace, build_tree(trace), chosen).has_column("Parent nn.Module"));
  const Table table = kernel_rows(trace, build_tree(trace, {.python_frames = true}), chosen);
  EXPECT_FALSE(table.has_column("Parent cpu_op"));
  EXPECT_THAT(column(table, "Parent nn.Module"),
              ElementsAre("nn.Module: Linear_0", "nn.Module: Linear_0", ""));
  EXPECT_THAT(column(table, "Parent nn.Module kernel count"), ElementsAre("3", "3", ""));
  EXPECT_THAT(column(table, "Percent of Parent nn.Module busy time (%)"),
              ElementsAre("60.0", "20.0", ""));
}

TEST(KernelRows, ColumnsOfWhatNoKernelHasAreNotThere) {
  TestTrace t;
  t.gpu({.name = "stray", .ts = 60, .dur = 4});
  const Trace trace = t.finish();
  const Table table =
      kernel_rows(trace, build_tree(trace), {.launch = true, .op = true, .module = true});
  EXPECT_EQ(table.rows(), 1u);
  EXPECT_EQ(table.columns().size(), 5u);
}

TEST(KernelRows, TheOnlyKernelIsAllOfItsOpsTimeEvenWhenItTookNone) {
  TestTrace t;
  t.op("aten::mm", 0, 10);
  t.launch("cudaLaunchKernel", 1, 1, {.name = "gemm", .ts = 20, .dur = 0});
  const Trace trace = t.finish();
  const Table table = kernel_rows(trace, build_tree(trace), {});
  EXPECT_THAT(column(table, "Percent of Parent cpu_op busy time (%)"), ElementsAre("100.0"));
}

}  // namespace
}  // namespace tracelens
