#include "analysis/ops/call_stacks.hpp"

#include <gtest/gtest.h>

#include "analysis/kit/test_ops.hpp"
#include "analysis/ops/unified.hpp"

namespace tracelens {
namespace {

TEST(CallStacks, RunningNumbersAreTakenOutOfNames) {
  EXPECT_EQ(without_numbers("nn.Module: Linear_12"), "nn.Module: Linear");
  EXPECT_EQ(without_numbers("conv1_2d_x_34_"), "conv1d_x_");
}

TEST(CallStacks, SeveralKernelsShareTheirCommonPart) {
  const CallChain chains[] = {{"a", "b", "k1"}, {"a", "b", "c", "k2"}, {"a", "b", "k1"}};
  EXPECT_EQ(python_repr(call_stack_value(chains)), "['a', 'b', ['k1'], ['c', 'k2']]");
  EXPECT_EQ(python_repr(call_stack_value(std::span{chains}.first(1))), "['a', 'b', 'k1']");
}

TEST(CallStacks, TheEntryPointIsInsideTheOpOrTheNearestFrameOfTheUsersOwn) {
  const Value outward =
      Value::list({"train.py(3): step", "torch/nn/modules/module.py(9): _call_impl",
                   "nn.Module: Linear", "aten::mm", "gemm"});
  EXPECT_EQ(entry_point(outward, "aten::mm"), "train.py(3): step");
  const Value inward = Value::list(
      {"train.py(3): step", "my::attn_fwd", Value::list({"attn.py(5): _attn_fwd", "kernel"})});
  EXPECT_EQ(entry_point(inward, "my::attn_fwd"), "attn.py(5): _attn_fwd");
  const Value numbered = Value::list({"train.py(3): step", "my::op", "k"});
  EXPECT_EQ(entry_point(numbered, "my::op_7"), "train.py(3): step");
  EXPECT_EQ(entry_point(outward, "aten::add"), std::nullopt);
}

TEST(CallStacks, AUnifiedRowShowsFramesOpsAndKernels) {
  TestTrace t;
  t.python("train.py(3): step", 0, 100);
  t.python("nn.Module: Linear_4", 1, 90);
  t.op("aten::mm", 10, 50, matrices(2, 3, 4));
  t.launch("cudaLaunchKernel", 21, 1, {.name = "gemm", .ts = 200, .dur = 2});
  const Trace trace = t.finish();
  const TraceFacts facts{trace, {.python_frames = true}};
  OpInput input{facts, {.call_stack = true}};
  const Table table = unified_perf_summary(input, collect_unified_ops(input)).value();
  // "train.py" has no slash, so only the module, the op and the kernel are shown.
  EXPECT_EQ(cell(table, "call_stack_full", 0), "['nn.Module: Linear', 'aten::mm', 'gemm']");
  EXPECT_EQ(cell(table, "entry_point", 0), "Not found");
}

}  // namespace
}  // namespace tracelens
