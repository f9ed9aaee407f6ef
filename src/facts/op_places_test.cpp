#include "facts/op_places.hpp"

#include <gtest/gtest.h>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

TEST(OpPlaces, ABackwardOpBelongsToTheModuleOfItsForwardOp) {
  TestTrace t;
  t.python("nn.Module: Mlp_3", 0, 50);
  t.op("aten::linear", 5, 20);
  const EventId forward = t.op("aten::mm", 10, 5);
  t.builder().set_sequence(forward, 7);
  const EventId wrapper = t.op("autograd::engine::evaluate_function: MmBackward0", 100, 20, 2);
  t.builder().set_sequence(wrapper, 7);
  const EventId backward = t.op("aten::mm", 105, 5, 2);
  t.event(Category::kUserAnnotation, "Optimizer.step#Adam.step", 200, 50);
  const EventId update = t.op("aten::add_", 210, 5);
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace, {.python_frames = true});
  const HostRanges ranges{trace};
  const OpPlaces places{trace, tree, ranges};
  const auto name = [&](NodeId node) {
    return node.valid() ? trace.name(tree.event(node)) : std::string_view{};
  };
  const NodeId inner = tree.node(forward), back = tree.node(backward), last = tree.node(update);
  EXPECT_EQ(name(places.op(inner)), "aten::mm");
  EXPECT_EQ(name(places.top_op(inner)), "aten::linear");
  EXPECT_EQ(name(places.module(inner)), "nn.Module: Mlp_3");
  EXPECT_EQ(places.phase(inner), ProgramPhase::kForward);
  EXPECT_EQ(name(places.top_op(back)), "autograd::engine::evaluate_function: MmBackward0");
  EXPECT_EQ(name(places.module(back)), "nn.Module: Mlp_3");
  EXPECT_EQ(places.phase(back), ProgramPhase::kBackward);
  EXPECT_EQ(name(places.module(last)), "");
  EXPECT_EQ(places.phase(last), ProgramPhase::kOptimizer);
}

TEST(OpPlaces, AModuleThatRunsAgainInTheBackwardPassIsItsOwn) {
  TestTrace t;
  t.python("nn.Module: Loss_0", 0, 10);
  const EventId forward = t.op("Checkpoint", 1, 5);
  t.builder().set_sequence(forward, 7);
  const EventId wrapper =
      t.op("autograd::engine::evaluate_function: CheckpointBackward", 100, 50, 2);
  t.builder().set_sequence(wrapper, 7);
  t.python("nn.Module: Mlp_3", 105, 30, 2);
  const EventId again = t.op("aten::mm", 110, 5, 2);
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace, {.python_frames = true});
  const HostRanges ranges{trace};
  const OpPlaces places{trace, tree, ranges};
  EXPECT_EQ(trace.name(tree.event(places.module(tree.node(again)))), "nn.Module: Mlp_3");
  EXPECT_EQ(places.phase(tree.node(again)), ProgramPhase::kBackward);
}

}  // namespace
}  // namespace tracelens
