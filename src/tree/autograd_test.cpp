// Backward ops and their forward ops.
#include "tree/autograd.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tracelens/tree.hpp>
#include <vector>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

constexpr const char* kBackward = "autograd::engine::evaluate_function: MmBackward0";

class Autograd : public ::testing::Test {
 protected:
  EventId op(std::string_view name, double ts, int tid, std::int64_t sequence) {
    const EventId event = t.op(name, ts, 1, tid);
    t.builder().set_sequence(event, sequence);
    return event;
  }
  TestTrace t;
};

TEST_F(Autograd, SequenceNumbersTieABackwardOpToItsForwardOp) {
  const EventId forward = op("aten::mm", 1, 1, 7), backward = op(kBackward, 9, 2, 7);
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace);
  EXPECT_EQ(tree.forward_of(backward), forward);
  EXPECT_THAT(tree.backward_of(forward), ::testing::ElementsAre(backward));
  EXPECT_FALSE(tree.forward_of(forward).valid());
  EXPECT_TRUE(tree.backward_of(backward).empty());
  EXPECT_EQ(tree.forward_backward_links(), 1u);
}

TEST_F(Autograd, ABackwardOnTheForwardThreadIsNotTied) {
  op("aten::mm", 1, 1, 7);
  op(kBackward, 9, 1, 7);
  const Trace trace = t.finish();
  EXPECT_TRUE(find_autograd_links(trace).empty());
}

TEST_F(Autograd, TheLatestForwardAndTheFirstBackwardOfANumberAreTied) {
  op("aten::linear", 1, 1, 7);
  const EventId latest = op("aten::mm", 2, 1, 7);
  op("aten::mm at the same time", 2, 3, 7);
  const EventId first = op(kBackward, 9, 2, 7), second = op(kBackward, 11, 2, 7);
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace);
  EXPECT_EQ(tree.forward_of(first), latest);
  EXPECT_FALSE(tree.forward_of(second).valid());
}

TEST_F(Autograd, AForwardOpMayHaveSeveralBackwardOpsInLinkOrder) {
  const EventId forward = op("aten::mm", 1, 1, 8);
  t.builder().set_sequence(forward, 3);  // a second number on the same event
  const EventId eight = op(kBackward, 9, 2, 8), three = op(kBackward, 5, 2, 3);
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace);
  EXPECT_THAT(tree.backward_of(forward), ::testing::ElementsAre(eight, three));
}

}  // namespace
}  // namespace tracelens
