// Who called whom where the trace says so: added ops below a graph launch, kernels below them, ops
// wrapped around others, and words that make no tree.
#include "tree/given_parents.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string_view>
#include <tracelens/trace_builder.hpp>
#include <utility>
#include <vector>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

EventId add(TraceBuilder& builder, Category category, std::string_view name, EventId parent = {}) {
  const EventId event = builder.append({.phase = Phase::kComplete,
                                        .category = category,
                                        .name = builder.intern(name),
                                        .track = {0},
                                        .signature = {},
                                        .ts_ns = 10'000,
                                        .dur_ns = 5'000});
  if (parent.valid()) builder.set_parent(event, parent);
  return event;
}

EventId parent_of(const Tree& tree, EventId event) {
  const NodeId node = tree.node(event);
  if (!node.valid() || !tree.parent(node).valid()) return {};
  return tree.event(tree.parent(node));
}

std::vector<EventId> order_of(const Tree& tree) {
  return {tree.events().begin(), tree.events().end()};
}

TEST(GivenParents, NoParentMakesARoot) {
  TestTrace t;
  const EventId outer = t.op("outer", 0, 100), inner = t.op("inner", 10, 20);
  const EventId deep = t.op("deep", 12, 5);
  t.builder().set_parent(inner, {});
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace);
  EXPECT_EQ(tree.stats().ignored_parents, 0u);
  EXPECT_FALSE(parent_of(tree, inner).valid());
  EXPECT_EQ(parent_of(tree, deep), inner);
  EXPECT_EQ(tree.roots().size(), 2u);
  EXPECT_EQ(tree.op_roots().size(), 2u);
  EXPECT_EQ(tree.end(tree.node(outer)).row, tree.node(outer).row + 1);
}

// frame { step { cudaGraphLaunch -> 2 kernels } after }
struct Replay {
  TestTrace t;
  EventId frame = t.python("decode", 0, 100), step = t.op("step", 5, 50);
  EventId launch = t.runtime("cudaGraphLaunch", 10, 5, 77), after = t.op("after", 20, 5);
  EventId gemm = t.gpu({.name = "gemm", .ts = 30, .dur = 4}, 77);
  EventId add_kernel = t.gpu({.name = "add", .ts = 34, .dur = 2}, 77);
  Trace trace = t.finish();
};

// The ops of the capture below the launch: linear(frame) { mm { call } } add { call }
struct Stitched {
  Replay replay;
  TraceBuilder builder{std::move(replay.trace)};
  EventId root = add(builder, Category::kCudaRuntime, "CaptureRoot", replay.launch);
  EventId linear = add(builder, Category::kPythonFunction, "nn.Module: Linear_0", root);
  EventId mm = add(builder, Category::kCpuOp, "aten::mm", linear);
  EventId mm_call = add(builder, Category::kCudaRuntime, "cudaLaunchKernel", mm);
  EventId op = add(builder, Category::kCpuOp, "aten::add", root);
  EventId op_call = add(builder, Category::kCudaRuntime, "cudaLaunchKernel", op);
  Stitched() {
    builder.set_parent(replay.gemm, mm_call);
    builder.set_parent(replay.add_kernel, op_call);
  }
};

TEST(GivenParents, PutTheOpsOfACaptureBelowTheLaunchAndKernelsBelowThem) {
  Stitched s;
  const Replay& r = s.replay;
  const Trace trace = std::move(s.builder).finish();
  EXPECT_EQ(trace.recorded(), s.root.row);
  const Tree tree = build_tree(trace, {.python_frames = true});
  EXPECT_EQ(order_of(tree),
            (std::vector{r.frame, r.step, r.launch, s.root, s.linear, s.mm, s.mm_call, r.gemm, s.op,
                         s.op_call, r.add_kernel, r.after}));
  EXPECT_EQ(tree.launch_of(r.gemm), s.mm_call);
  EXPECT_EQ(tree.gpu_sum_ns(tree.node(s.mm)), 4000);
  EXPECT_EQ(tree.gpu_sum_ns(tree.node(r.step)), 6000);
  EXPECT_EQ(tree.gpu_count(tree.node(r.launch)), 2u);
  EXPECT_TRUE(tree.is_module(tree.node(s.linear)));
  EXPECT_EQ(tree.event(tree.nearest_op(tree.node(r.gemm))), s.mm);
  EXPECT_EQ(std::vector(tree.op_roots().begin(), tree.op_roots().end()), std::vector{r.step});
  EXPECT_EQ(tree.stats().ignored_parents, 0u);
}

TEST(GivenParents, LeaveOutPythonFramesWhenTheyAreNotWanted) {
  Stitched s;
  const Replay& r = s.replay;
  const Trace trace = std::move(s.builder).finish();
  const Tree tree = build_tree(trace);
  EXPECT_FALSE(tree.node(s.linear).valid());
  EXPECT_EQ(parent_of(tree, s.mm), s.root);
  EXPECT_EQ(order_of(tree), (std::vector{r.step, r.launch, s.root, s.mm, s.mm_call, r.gemm, s.op,
                                         s.op_call, r.add_kernel, r.after}));
}

TEST(GivenParents, CanBeGivenInTwoGoesAndTheLastWordCounts) {
  Stitched s;
  Trace once = std::move(s.builder).finish();
  TraceBuilder builder{std::move(once)};
  EXPECT_EQ(builder.intern("aten::mm"), builder.intern("aten::mm"));
  const EventId pseudo = add(builder, Category::kCpuOp, "pseudo", s.mm);  // isolates one kernel
  builder.set_parent(s.mm_call, pseudo);
  const Trace trace = std::move(builder).finish();
  EXPECT_EQ(trace.recorded(), s.root.row);
  const Tree tree = build_tree(trace, {.python_frames = true});
  EXPECT_EQ(parent_of(tree, pseudo), s.mm);
  EXPECT_EQ(parent_of(tree, s.mm_call), pseudo);
  EXPECT_EQ(parent_of(tree, s.op_call), s.op);
  EXPECT_EQ(tree.gpu_sum_ns(tree.node(pseudo)), 4000);
}

TEST(GivenParents, AnOpPassedOverOwnsTheKernelButIsNotFoundFromIt) {
  Stitched s;
  const EventId pseudo = add(s.builder, Category::kCpuOp, "pseudo", s.mm);
  s.builder.set_parent(s.mm_call, pseudo);
  s.builder.pass_over(pseudo);
  const Trace trace = std::move(s.builder).finish();
  const Tree tree = build_tree(trace);
  EXPECT_EQ(tree.gpu_sum_ns(tree.node(pseudo)), 4000);
  EXPECT_EQ(tree.event(tree.nearest_op(tree.node(s.replay.gemm))), s.mm);
}

TEST(GivenParents, AnOpInsertedAboveAnotherStandsInItsPlace) {
  TestTrace t;
  const EventId a = t.op("a", 0, 100), b = t.op("b", 10, 10), inner = t.op("inner", 12, 2);
  const EventId c = t.op("c", 30, 10);
  TraceBuilder builder{t.finish()};
  const EventId above = add(builder, Category::kCpuOp, "above b", a);
  builder.set_parent(b, above);
  const EventId last = add(builder, Category::kCpuOp, "below a", a);
  const Trace trace = std::move(builder).finish();
  EXPECT_EQ(order_of(build_tree(trace)), (std::vector{a, above, b, inner, c, last}));
}

TEST(GivenParents, AnOpCanBeWrappedAroundAllChildren) {
  TestTrace t;
  const EventId a = t.op("a", 0, 100), b = t.op("b", 10, 10), c = t.op("c", 30, 10);
  TraceBuilder builder{t.finish()};
  const EventId wrapper = add(builder, Category::kCpuOp, "wrapper", a);
  builder.set_parent(b, wrapper);
  builder.set_parent(c, wrapper);
  const Trace trace = std::move(builder).finish();
  EXPECT_EQ(order_of(build_tree(trace)), (std::vector{a, wrapper, b, c}));
}

TEST(GivenParents, IdsOfAddedEventsLinkNothing) {
  Replay r;
  TraceBuilder builder{std::move(r.trace)};
  const EventId copy = builder.append({.phase = Phase::kComplete,
                                       .category = Category::kCudaRuntime,
                                       .name = builder.intern("cudaGraphLaunch"),
                                       .track = {0},
                                       .signature = {},
                                       .ts_ns = 10'000,
                                       .dur_ns = 5'000,
                                       .correlation = 77});
  const Trace trace = std::move(builder).finish();
  const Tree tree = build_tree(trace);
  EXPECT_EQ(tree.launch_of(r.gemm), r.launch);
  EXPECT_FALSE(tree.node(copy).valid());
}

TEST(GivenParents, RingsAndParentsOutsideTheTreeAreIgnored) {
  Replay r;
  TraceBuilder builder{std::move(r.trace)};
  const EventId x = add(builder, Category::kCpuOp, "x"), y = add(builder, Category::kCpuOp, "y", x);
  builder.set_parent(x, y);
  const EventId hanging = add(builder, Category::kCpuOp, "from the ring", y);
  const EventId self = add(builder, Category::kCpuOp, "self");
  builder.set_parent(self, self);
  builder.set_parent(r.step, r.launch);  // below itself
  const EventId nowhere = add(builder, Category::kCpuOp, "no such row", {1'000'000});
  const EventId on_gpu = add(builder, Category::kCpuOp, "below a kernel", r.gemm);
  const Trace trace = std::move(builder).finish();
  const Tree tree = build_tree(trace, {.python_frames = true});
  EXPECT_EQ(tree.stats().ignored_parents, 5u);
  EXPECT_EQ(parent_of(tree, hanging), y);
  for (const EventId root : {self, nowhere, on_gpu}) {
    EXPECT_TRUE(tree.node(root).valid());
    EXPECT_FALSE(parent_of(tree, root).valid());
  }
  EXPECT_EQ(parent_of(tree, r.after), r.step);
  EXPECT_EQ(tree.linked_gpu_events().size(), 2u);
}

// Any words at all: every subtree is a range, sums add up, every GPU event has a caller.
TEST(GivenParents, RandomWordsGiveATree) {
  std::mt19937 random{15};
  const auto upto = [&](std::size_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (int round = 0; round < 300; ++round) {
    Stitched s;
    const std::size_t rows = s.builder.size();
    for (int i = 0; i < 8; ++i) s.builder.set_parent({upto(rows)}, {upto(rows + 2)});
    const Trace trace = std::move(s.builder).finish();
    for (const bool frames : {false, true}) {
      const Tree tree = build_tree(trace, {.python_frames = frames});
      std::int64_t sum = 0;
      for (const NodeId root : tree.roots()) sum += tree.gpu_sum_ns(root);
      std::int64_t linked = 0;
      for (const EventId gpu : tree.linked_gpu_events()) {
        linked += trace.dur_ns()[gpu.row];
        ASSERT_TRUE(tree.launch_of(gpu).valid());
      }
      ASSERT_EQ(sum, linked);
      for (std::uint32_t node = 0; node < tree.size(); ++node) {
        ASSERT_EQ(tree.node(tree.event({node})).row, node);
        const NodeId parent = tree.parent({node});
        if (!parent.valid()) continue;
        ASSERT_LT(parent.row, node);
        ASSERT_LE(tree.end({node}), tree.end(parent));
      }
    }
  }
}

}  // namespace
}  // namespace tracelens
