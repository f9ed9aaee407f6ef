#include "analysis/ops/call_stacks.hpp"

#include <gtest/gtest.h>

#include "analysis/kit/test_ops.hpp"
#include "analysis/ops/shared_stacks.hpp"
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

// 0.1 + 0.2 is more than 0.3: the inner frame is lost where sums are doubles of microseconds.
TEST(CallStacks, FramesThatEndTogetherMayGetLostInTheReferencesReportOfServing) {
  TestTrace t;
  t.op("aten::first", 0, 0);
  t.python("a/a.py(1): main", 0, 0.3);
  t.python("a/a.py(2): run", 0.1, 0.2);
  t.op("aten::mm", 0.1, 0.1, matrices(2, 3, 4));
  t.launch("cudaLaunchKernel", 0.1, 0.05, {.name = "gemm", .ts = 200, .dur = 2});
  const Trace trace = t.finish();
  const TraceFacts facts{trace, {.python_frames = true}};
  const auto stack = [&](bool inference) {
    OpInput input{facts, {.call_stack = true, .inference = inference}};
    return cell(unified_perf_summary(input, collect_unified_ops(input)).value(), "call_stack_full",
                0);
  };
  EXPECT_EQ(stack(false), "['a/a.py(1): main', 'a/a.py(2): run', 'aten::mm', 'gemm']");
  EXPECT_EQ(stack(true), "['a/a.py(1): main', 'aten::mm', 'gemm']");
}

// The stack of a kernel that is charged to the op around a pseudo-op does not hold the pseudo-op.
TEST(CallStacks, AnOpThatIsPassedOverStandsBesideTheStackOfItsKernel) {
  TestTrace t;
  t.python("a/a.py(1): main", 0, 50);
  const EventId op = t.op("vllm::moe_forward", 1, 40);
  const auto [call, kernel] =
      t.launch("cudaLaunchKernel", 10, 1, {.name = "gemm", .ts = 200, .dur = 2});
  TraceBuilder builder{t.finish()};
  const EventId pseudo = builder.append({.phase = Phase::kComplete,
                                         .category = Category::kCpuOp,
                                         .name = builder.intern("pseudo_op::x"),
                                         .track = builder.intern(Track{1, 1})});
  builder.set_parent(pseudo, op);
  builder.set_parent(call, pseudo);
  builder.pass_over(pseudo);
  const Trace trace = std::move(builder).finish();
  const TraceFacts facts{trace, {.python_frames = true}};
  OpInput input{facts, {.call_stack = true}};
  const std::vector<UnifiedOp> ops = collect_unified_ops(input);
  ASSERT_EQ(ops.size(), 1u);
  EXPECT_EQ(trace.text(ops[0].name), "pseudo_op::x");
  FrameNames frames{trace};
  EXPECT_EQ(kernel_call_stacks(input, frames, ops[0]).at(0),
            (CallChain{"a/a.py(1): main", "vllm::moe_forward", "pseudo_op::x", "a/a.py(1): main",
                       "vllm::moe_forward"}));
}

TEST(SharedStacks, CallsFromTheSamePlaceHaveOneList) {
  TestTrace t;
  t.python("a/a.py(1): main", 0, 100);
  for (int i = 0; i < 2; ++i) {
    t.python("nn.Module: Linear_" + std::to_string(i), 10 + 40 * i, 30);
    t.op("aten::mm", 20 + 40 * i, 10);
  }
  const Trace trace = t.finish();
  const TraceFacts facts{trace, {.python_frames = true}};
  const Tree& tree = facts.tree();
  SharedStacks stacks{trace, tree};
  std::vector<Value> lists;
  for (std::uint32_t row = 0; row < tree.size(); ++row)
    if (trace.name(tree.event(NodeId{row})) == "aten::mm") lists.push_back(stacks.of(NodeId{row}));
  ASSERT_EQ(lists.size(), 2u);
  EXPECT_EQ(python_repr(lists[0]), "['a/a.py(1): main', 'nn.Module: Linear', 'aten::mm']");
  EXPECT_EQ(&lists[0].items(), &lists[1].items());
}

TEST(SharedStacks, ARunawayRecursionHasNone) {
  TestTrace t;
  const auto deepest = static_cast<int>(SharedStacks::kDeepest);
  for (int i = 0; i <= deepest; ++i) t.python("a/a.py(1): f", i, 10 * deepest - 2 * i);
  const Trace trace = t.finish();
  const TraceFacts facts{trace, {.python_frames = true}};
  SharedStacks stacks{trace, facts.tree()};
  const std::uint32_t last = static_cast<std::uint32_t>(facts.tree().size()) - 1;
  EXPECT_TRUE(stacks.of(NodeId{last}).is_null());
  EXPECT_EQ(stacks.of(NodeId{last - 1}).items().size(), SharedStacks::kDeepest);
}

}  // namespace
}  // namespace tracelens
