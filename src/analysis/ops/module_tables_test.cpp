#include "analysis/ops/module_tables.hpp"

#include <gtest/gtest.h>

#include "analysis/kit/test_ops.hpp"

namespace tracelens {
namespace {

using Texts = std::vector<std::string>;

// Two calls of a block with a linear layer inside, and one op outside of all modules.
Trace two_blocks() {
  TestTrace t;
  for (int i = 0; i < 2; ++i) {
    const double at = 100 * i;
    t.python("nn.Module: Block_" + std::to_string(i), at, 60);
    t.op("aten::add", at + 2, 8);
    t.launch("cudaLaunchKernel", at + 4, 1, {.name = "add", .ts = at + 10, .dur = 5});
    t.python("nn.Module: Linear_" + std::to_string(i), at + 20, 30);
    t.op("aten::mm", at + 22, 10);
    t.launch("cudaLaunchKernel", at + 24, 1, {.name = "gemm", .ts = at + 30, .dur = 20});
  }
  t.op("aten::zero_", 300, 10);
  t.launch("cudaLaunchKernel", 302, 1, {.name = "fill", .ts = 310, .dur = 1});
  return t.finish();
}

std::vector<Table> tables_of(const Trace& trace) {
  const TraceFacts facts{trace, {.python_frames = true}};
  OpInput input{facts, {}};
  return module_tables(input);
}

TEST(ModuleTables, AModuleHasTheTimeOfAllBelowItAndItsOwn) {
  const Table modules = tables_of(two_blocks()).at(0);
  EXPECT_EQ(column(modules, "module"), (Texts{"nn.Module: Block_0", "nn.Module: Block_1",
                                              "nn.Module: Linear_0", "nn.Module: Linear_1"}));
  EXPECT_EQ(column(modules, "parent module"),
            (Texts{"NA", "NA", "nn.Module: Block_0", "nn.Module: Block_1"}));
  EXPECT_EQ(column(modules, "GPU time ms"), (Texts{"0.025", "0.025", "0.02", "0.02"}));
  EXPECT_EQ(column(modules, "own GPU time ms"), (Texts{"0.005", "0.005", "0.02", "0.02"}));
  EXPECT_EQ(column(modules, "kernels"), (Texts{"2", "2", "1", "1"}));
}

TEST(ModuleTables, OpsAreSummedByTheClassOfTheInnermostModule) {
  const Table ops = tables_of(two_blocks()).at(1);
  EXPECT_EQ(column(ops, "name"), (Texts{"aten::mm", "aten::add", "aten::zero_"}));
  EXPECT_EQ(column(ops, "parent_module"), (Texts{"nn.Module: Linear", "nn.Module: Block", "NA"}));
  EXPECT_EQ(column(ops, "total_direct_kernel_time_sum"), (Texts{"40.0", "10.0", "1.0"}));
  EXPECT_EQ(column(ops, "Count"), (Texts{"2", "2", "1"}));
}

TEST(ModuleTables, WithoutModulesThereAreNone) {
  TestTrace t;
  t.op("aten::mm", 0, 10);
  t.launch("cudaLaunchKernel", 2, 1, {.name = "gemm", .ts = 5, .dur = 8});
  EXPECT_TRUE(tables_of(t.finish()).empty());
}

TEST(ModuleTables, BackwardWorkCountsForTheModuleOfItsForwardOp) {
  TestTrace t;
  t.python("nn.Module: Model_0", 0, 100);
  t.python("nn.Module: Linear_0", 10, 50);
  t.builder().set_sequence(t.op("aten::mm", 20, 10), 7);
  t.launch("cudaLaunchKernel", 22, 1, {.name = "gemm", .ts = 30, .dur = 4});
  const EventId wrapper = t.op("autograd::engine::evaluate_function: MmBackward0", 200, 50, 2);
  t.builder().set_sequence(wrapper, 7);
  t.op("aten::mm", 210, 10, 2);
  t.launch("cudaLaunchKernel", 212, 1, {.name = "gemm_backward", .ts = 220, .dur = 6}, 2);
  const std::vector<Table> tables = tables_of(t.finish());
  EXPECT_EQ(column(tables.at(0), "module"), (Texts{"nn.Module: Model_0", "nn.Module: Linear_0"}));
  EXPECT_EQ(column(tables.at(0), "backward GPU time ms"), (Texts{"0.006", "0.006"}));
  EXPECT_EQ(column(tables.at(1), "pass"), (Texts{"backward", "forward"}));
  EXPECT_EQ(column(tables.at(1), "parent_module"),
            (Texts{"nn.Module: Linear", "nn.Module: Linear"}));
}

}  // namespace
}  // namespace tracelens
