#include "analysis/ops/autograd_wrappers.hpp"

#include <gtest/gtest.h>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

TEST(AutogradWrappers, AreThoseOfAnOpAndOfAllBelowIt) {
  TestTrace t;
  const EventId outer = t.op("aten::linear", 0, 50), inner = t.op("aten::addmm", 10, 20),
                other = t.op("aten::relu", 60, 10);
  t.builder().set_sequence(inner, 1);
  t.builder().set_sequence(other, 2);
  const EventId second = t.op("autograd::engine::evaluate_function: ReluBackward0", 100, 10, 2);
  t.builder().set_sequence(second, 2);
  const EventId first = t.op("autograd::engine::evaluate_function: AddmmBackward0", 120, 10, 2);
  t.builder().set_sequence(first, 1);
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace);
  const AutogradWrappers wrappers{trace, tree};
  EXPECT_EQ(wrappers.forward_of(first), inner);
  EXPECT_EQ(wrappers.forward_of(second), other);
  EXPECT_FALSE(wrappers.forward_of(inner).valid());
  for (const EventId forward : {outer, inner}) {
    const auto found = wrappers.of(tree.node(forward));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found.front().first, tree.node(inner));
    EXPECT_EQ(found.front().second, first);
  }
  ASSERT_EQ(wrappers.of(tree.node(other)).size(), 1u);
  EXPECT_TRUE(wrappers.of(tree.node(first)).empty());
}

}  // namespace
}  // namespace tracelens
