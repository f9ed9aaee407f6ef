#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tracelens/node.hpp>
#include <tracelens/trace_builder.hpp>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

using testing::ElementsAre;

// model { linear { launch -> gemm }, relu }, then a call of its own.
class NodeTest : public testing::Test {
 protected:
  NodeTest() {
    TestTrace t;
    t.op("model", 0, 100);
    linear_ = t.op("linear", 10, 30);
    kernel_ = t.launch("cudaLaunchKernel", 20, 5, {.name = "gemm", .ts = 200, .dur = 7.5}).gpu;
    t.op("relu", 50, 10);
    t.op("other", 120, 10);
    trace_ = t.finish();
    tree_ = build_tree(trace_);
  }

  template <class Nodes>
  static std::vector<std::string_view> names(const Nodes& nodes) {
    std::vector<std::string_view> found;
    for (const Node node : nodes) found.push_back(node.name());
    return found;
  }

  EventId linear_, kernel_;
  Trace trace_;
  Tree tree_;
};

TEST_F(NodeTest, ChildrenStepOverSubtreesAndWalkDoesNot) {
  const std::vector<Node> top = roots(trace_, tree_);
  EXPECT_THAT(names(top), ElementsAre("model", "other"));
  EXPECT_THAT(names(top[0].children()), ElementsAre("linear", "relu"));
  EXPECT_THAT(names(top[0].walk()),
              ElementsAre("model", "linear", "cudaLaunchKernel", "gemm", "relu"));
  EXPECT_TRUE(top[1].children().empty());
  EXPECT_EQ(std::ranges::count_if(top[0].walk(), &Node::is_gpu), 1);
}

TEST_F(NodeTest, TheWayUpAndTheSumsBelow) {
  const Node kernel = node_of(trace_, tree_, kernel_).value();
  EXPECT_THAT(kernel.call_stack(), ElementsAre("model", "linear", "cudaLaunchKernel", "gemm"));
  EXPECT_THAT(
      kernel.call_stack([](const Node& node) { return node.category() != Category::kCudaRuntime; }),
      ElementsAre("model", "linear", "gemm"));
  EXPECT_EQ(kernel.nearest_op()->event(), linear_);
  EXPECT_EQ(kernel.parent()->parent(), kernel.nearest_op());
  EXPECT_FALSE(roots(trace_, tree_).front().parent());
  EXPECT_EQ(roots(trace_, tree_).front().gpu_us(), 7.5);
  EXPECT_EQ(roots(trace_, tree_).front().gpu_count(), 1u);
  EXPECT_EQ(roots(trace_, tree_).back().gpu_us(), 0);
}

// What a reader of one's own relies on.
TEST(TraceBuilder, ALaunchAddedByHandLinksTheKernelToItsCall) {
  TraceBuilder builder;
  const TrackId host = builder.intern({.pid = 1, .tid = 1}),
                gpu = builder.intern({.pid = 0, .tid = 7});
  const auto add = [&](Category category, TrackId track, std::int64_t ts) {
    return builder.append({.phase = Phase::kComplete,
                           .category = category,
                           .name = builder.intern("launch or kernel"),
                           .track = track,
                           .ts_ns = ts,
                           .dur_ns = 10});
  };
  std::vector<std::pair<EventId, EventId>> launches;
  for (const std::int64_t ts : {0, 100}) {
    const EventId call = add(Category::kCudaRuntime, host, ts);
    launches.emplace_back(call, add(Category::kKernel, gpu, ts + 50));
    builder.add_launch(launches.back().first, launches.back().second);
  }
  const Trace trace = std::move(builder).finish();
  const Tree tree = build_tree(trace);
  for (const auto& [call, kernel] : launches) EXPECT_EQ(tree.launch_of(kernel), call);
}

}  // namespace
}  // namespace tracelens
