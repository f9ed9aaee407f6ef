#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tracelens/merged_traces.hpp>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

using testing::ElementsAre;

struct Pair {
  Trace trace1, trace2;
  Tree tree1, tree2;
  Pair(Trace first, Trace second)
      : trace1{std::move(first)},
        trace2{std::move(second)},
        tree1{build_tree(trace1)},
        tree2{build_tree(trace2)} {}
  [[nodiscard]] MergedTraces merged() const {
    return merge_traces(trace1, tree1, trace2, tree2, Edition::kReference);
  }
};

TEST(MergedTraces, HasTheEventsOfBothAndWhatEachWasComparedWith) {
  TestTrace a, b;
  const EventId linear1 = a.op("aten::linear", 0, 20);
  const auto [call1, gpu1] = a.launch("hipLaunchKernel", 1, 1, {.name = "k1", .ts = 30, .dur = 4});
  b.op("aten::empty", 0, 1);  // launches nothing: shifts all positions of the second file by one
  const EventId linear2 = b.op("aten::linear", 2, 20);
  const auto [call2, gpu2] = b.launch("cudaLaunchKernel", 3, 1, {.name = "k2", .ts = 30, .dur = 4});
  const Pair pair{a.finish(), b.finish()};
  const MergedTraces merged = pair.merged();
  // Roots go by position: the linear of the first with the empty of the second.
  ASSERT_EQ(merged.roots.size(), 2u);
  EXPECT_EQ(merged.other(0, linear1), EventId{0});
  EXPECT_EQ(merged.other(1, linear2), EventId{});
  EXPECT_EQ(merged.other(1, EventId{0}), linear1);
  EXPECT_EQ(merged.other(0, call1), EventId{});
  EXPECT_EQ(merged.other(0, EventId{99}), std::nullopt);
  const MergedTraces::Node& root = merged.nodes[merged.roots[0]];
  EXPECT_TRUE(root.is_in_both());
  EXPECT_EQ(root.first, linear1);
  EXPECT_EQ(root.second, EventId{0});
  const MergedTraces::Node& launch = merged.nodes[merged.children_of(root)[0]];
  EXPECT_FALSE(launch.is_in_both());
  EXPECT_EQ(launch.first, call1);
  EXPECT_EQ(merged.nodes[merged.children_of(launch)[0]].first, gpu1);
  EXPECT_EQ(merged.nodes.size(), 6u);
  static_cast<void>(call2);
  static_cast<void>(gpu2);
}

TEST(MergedTraces, OfAChainThatOnlyOneSideHasTheTopWasComparedAndTheEndIsShown) {
  TestTrace a, b;
  const EventId outer1 = a.op("aten::outer", 0, 40);
  const EventId wrapper = a.op("aten::wrapper", 1, 38);
  a.op("aten::add", 2, 5);
  a.launch("cudaLaunchKernel", 3, 1, {.name = "k1", .ts = 30, .dur = 4});
  a.op("aten::mul", 10, 5);
  a.launch("cudaLaunchKernel", 11, 1, {.name = "k2", .ts = 40, .dur = 4});
  const EventId outer2 = b.op("aten::outer", 0, 40);
  b.op("aten::add", 2, 5);
  b.launch("cudaLaunchKernel", 3, 1, {.name = "k1", .ts = 30, .dur = 4});
  b.op("aten::mul", 10, 5);
  b.launch("cudaLaunchKernel", 11, 1, {.name = "k2", .ts = 40, .dur = 4});
  const Pair pair{a.finish(), b.finish()};
  const MergedTraces merged = pair.merged();
  const MergedTraces::Node& root = merged.nodes[merged.roots[0]];
  EXPECT_EQ(root.first, wrapper);
  EXPECT_EQ(root.met_first, outer1);
  EXPECT_EQ(root.second, outer2);
  EXPECT_EQ(merged.other(0, outer1), outer2);
  EXPECT_EQ(merged.other(0, wrapper), std::nullopt);
}

}  // namespace
}  // namespace tracelens
