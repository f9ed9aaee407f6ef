// How host events nest: the rules of the call stack, one test per rule, then any random trace
// against a model that keeps the rules in their plainest form.
#include "tree/builder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

// The parent of an event; invalid for a root. The event must be in the tree.
EventId parent_of(const Tree& tree, EventId event) {
  const NodeId node = tree.node(event);
  EXPECT_TRUE(node.valid()) << "event " << event.row << " is not in the tree";
  if (!node.valid() || !tree.parent(node).valid()) return {};
  return tree.event(tree.parent(node));
}

bool is_root(const Tree& tree, EventId event) { return !parent_of(tree, event).valid(); }

TEST(HostStack, EqualEndIsContainmentAndTouchingIsNot) {
  TestTrace t;
  const EventId a = t.op("A", 0, 100), b = t.op("B", 10, 90);
  const EventId r = t.runtime("r", 99, 1);
  const EventId c = t.op("C", 100, 5);
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace);
  EXPECT_EQ(parent_of(tree, b), a);
  EXPECT_EQ(parent_of(tree, r), b);
  EXPECT_TRUE(is_root(tree, c));
  EXPECT_EQ(std::vector(tree.op_roots().begin(), tree.op_roots().end()), (std::vector{a, c}));
}

TEST(HostStack, OutlastingByLessThanOneMicrosecondMakesASibling) {
  TestTrace t;
  const EventId a = t.op("A", 0, 100);
  t.op("B", 10, 20);
  const EventId launch = t.runtime("L", 29.5, 5);
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace);
  EXPECT_EQ(parent_of(tree, launch), a);
  EXPECT_EQ(tree.stats().bleed_pops, 1u);
  EXPECT_EQ(tree.stats().discarded, 0u);
}

TEST(HostStack, OutlastingByOneMicrosecondOrMoreDiscards) {
  TestTrace t;
  const EventId a = t.op("A", 0, 100);
  t.op("B", 10, 20);
  const EventId c = t.op("C", 29, 10), d = t.op("D", 33, 2);
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace);
  EXPECT_FALSE(tree.node(c).valid());
  EXPECT_EQ(parent_of(tree, d), a);
  EXPECT_EQ(tree.stats().discarded, 1u);
  EXPECT_EQ(tree.stats().discarded_ops, 1u);
}

TEST(HostStack, OutlastingTheOnlyOpenEventAlwaysDiscards) {
  TestTrace t;
  t.op("A", 0, 10);
  const EventId launch = t.runtime("L", 9.5, 5);
  const EventId d = t.op("D", 10, 2);
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace);
  EXPECT_FALSE(tree.node(launch).valid());
  EXPECT_TRUE(is_root(tree, d));
}

TEST(HostStack, ASiblingMadeByOutlastingMayOutlastItsNewParentToo) {
  TestTrace t;
  t.op("A", 0, 100);
  const EventId b = t.op("B", 10, 20), c = t.op("C", 15, 15), d = t.op("D", 29.5, 10);
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace);
  EXPECT_EQ(parent_of(tree, c), b);
  EXPECT_EQ(parent_of(tree, d), b);  // although D ends at 39.5 and B at 30
}

TEST(HostStack, AtEqualStartTheFirstInTheFileIsTheParent) {
  TestTrace child_first;
  const EventId child = child_first.op("child", 5, 2),
                late_parent = child_first.op("parent", 5, 10);
  const Trace trace1 = child_first.finish();
  const Tree tree1 = build_tree(trace1);
  EXPECT_TRUE(is_root(tree1, child));
  EXPECT_FALSE(tree1.node(late_parent).valid());

  TestTrace parent_first;
  const EventId parent = parent_first.op("parent", 5, 10),
                late_child = parent_first.op("child", 5, 2);
  const Trace trace2 = parent_first.finish();
  EXPECT_EQ(parent_of(build_tree(trace2), late_child), parent);
}

TEST(HostStack, AnEventWithoutDurationHasNoChildren) {
  TestTrace t;
  const EventId a = t.op("A", 0, 100), z = t.op("Z", 10, 0), b = t.op("B", 10, 5);
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace);
  EXPECT_EQ(parent_of(tree, z), a);
  EXPECT_EQ(parent_of(tree, b), a);
}

TEST(HostStack, PythonFramesTakePartOnlyWhenAskedFor) {
  TestTrace t;
  const EventId f = t.python("f", 0, 100), module = t.python("nn.Module: Linear_12", 1, 90);
  const EventId a = t.op("A", 2, 10), b = t.op("B", 3, 2), c = t.op("C", 20, 5);
  const Trace trace = t.finish();
  const Tree with = build_tree(trace, {.python_frames = true});
  EXPECT_EQ(parent_of(with, module), f);
  EXPECT_EQ(parent_of(with, a), module);
  EXPECT_EQ(parent_of(with, b), a);
  EXPECT_EQ(parent_of(with, c), module);
  EXPECT_TRUE(with.is_module(with.node(module)));
  EXPECT_FALSE(with.is_module(with.node(f)));
  EXPECT_EQ(with.nearest_module(with.node(b)), with.node(module));
  EXPECT_FALSE(with.nearest_module(with.node(module)).valid());
  EXPECT_EQ(with.nearest_op(with.node(b)), with.node(a));
  const Tree without = build_tree(trace);
  EXPECT_FALSE(without.node(f).valid());
  EXPECT_TRUE(is_root(without, a));
  for (const Tree* tree : {&with, &without})  // roots of ops do not depend on the frames
    EXPECT_EQ(std::vector(tree->op_roots().begin(), tree->op_roots().end()), (std::vector{a, c}));
}

TEST(HostStack, ThreadsDoNotNestIntoEachOther) {
  TestTrace t;
  const EventId other = t.op("other thread", 1, 5, 2);
  const EventId a = t.op("A", 0, 100);
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace);
  EXPECT_TRUE(is_root(tree, other));
  EXPECT_EQ(std::vector(tree.op_roots().begin(), tree.op_roots().end()),
            (std::vector{a, other}));  // by time over all threads
}

TEST(HostStack, EventsWithoutATimeAreLeftOut) {
  TestTrace t;
  const EventId good = t.op("good", 0, 10);
  const EventId bad = t.builder().append({.phase = Phase::kComplete,
                                          .category = Category::kCpuOp,
                                          .name = t.builder().intern("no duration"),
                                          .track = t.builder().intern(Track{1, 1}),
                                          .signature = {},
                                          .ts_ns = 5});
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace);
  EXPECT_TRUE(tree.node(good).valid());
  EXPECT_FALSE(tree.node(bad).valid());
}

TEST(HostStack, TimesAtTheBordersOfInt64AreSafe) {
  TestTrace t;
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t ts : {-kMax, std::int64_t{0}, kMax})
    for (const std::int64_t dur : {-kMax, std::int64_t{1}, kMax})
      t.builder().append({.phase = Phase::kComplete,
                          .category = Category::kCpuOp,
                          .name = t.builder().intern("op"),
                          .track = t.builder().intern(Track{1, 1}),
                          .signature = {},
                          .ts_ns = ts,
                          .dur_ns = dur});
  const Trace trace = t.finish();
  EXPECT_GE(build_tree(trace).size(), 1u);
}

TEST(HostStack, AHundredThousandNestedFramesAreFine) {
  constexpr int kDepth = 100'000;
  TestTrace t;
  for (int i = 0; i < kDepth; ++i) t.python("frame", i, 2.0 * kDepth - 2 * i);
  const EventId call = t.launch("cudaLaunchKernel", kDepth, 0.5, {.ts = 0, .dur = 3}).call;
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace, {.python_frames = true});
  EXPECT_EQ(tree.size(), std::size_t{kDepth} + 2);
  EXPECT_EQ(tree.parent(tree.node(call)), NodeId{kDepth - 1});
  EXPECT_EQ(tree.gpu_sum_ns(tree.roots()[0]), 3000);
}

TEST(HostStack, AnEmptyTraceGivesAnEmptyTree) {
  TestTrace t;
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace);
  EXPECT_EQ(tree.size(), 0u);
  EXPECT_TRUE(tree.roots().empty());
  EXPECT_TRUE(tree.stats().gpu_only);
}

// --- any trace at all, against the rules in their plainest form ---

struct Placed {
  bool discarded = false;
  EventId parent;
};

// One list of open events, searched from its end; ends are looked up anew each time.
std::vector<Placed> place_plainly(const Trace& trace) {
  std::vector<Placed> placed(trace.size());
  for (std::uint32_t track = 0; track < trace.track_table().size(); ++track) {
    std::vector<EventId> order;
    for (const EventId event : trace.all_events())
      if (trace.tracks()[event.row].row == track) order.push_back(event);
    std::ranges::stable_sort(order, {}, [&](EventId e) { return trace.ts_ns()[e.row]; });
    std::vector<EventId> stack;
    for (const EventId event : order) {
      const std::int64_t start = trace.ts_ns()[event.row], end = trace.end_ns(event);
      while (!stack.empty() && trace.end_ns(stack.back()) <= start) stack.pop_back();
      if (!stack.empty() && trace.end_ns(stack.back()) < end) {
        const bool grazes = trace.end_ns(stack.back()) - start < 1000;
        if (!grazes || stack.size() == 1) {
          placed[event.row].discarded = true;
          continue;
        }
        stack.pop_back();
      }
      if (!stack.empty()) placed[event.row].parent = stack.back();
      stack.push_back(event);
    }
  }
  return placed;
}

TEST(HostStack, RandomTracesMatchThePlainModel) {
  std::mt19937 random{20240607};
  const auto upto = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 300; ++round) {
    TestTrace t;
    const int events = 1 + upto(60), tracks = 1 + upto(3);
    // Starts and durations of few distinct values, so that equal and touching times are common;
    // tenths of a microsecond, so that bleeding is both below and above the limit.
    for (int i = 0; i < events; ++i)
      t.op("op", upto(300) / 10.0, upto(200) / 10.0, 1 + upto(tracks));
    const Trace trace = t.finish();
    const Tree tree = build_tree(trace);
    const std::vector<Placed> expected = place_plainly(trace);
    std::uint64_t discarded = 0;
    for (const EventId event : trace.all_events()) {
      discarded += expected[event.row].discarded ? 1 : 0;
      ASSERT_EQ(tree.node(event).valid(), !expected[event.row].discarded) << "round " << round;
      if (tree.node(event).valid()) {
        ASSERT_EQ(parent_of(tree, event), expected[event.row].parent) << "round " << round;
      }
    }
    EXPECT_EQ(tree.stats().discarded, discarded);
    // Tree order: every subtree is the range behind its node.
    for (std::uint32_t node = 0; node < tree.size(); ++node) {
      const NodeId parent = tree.parent({node});
      if (!parent.valid()) continue;
      ASSERT_LT(parent.row, node);
      ASSERT_LE(tree.end({node}), tree.end(parent));
    }
  }
}

// Enough rows for several parts and segments of each track; two threads' events never overlap a gap, one's do.
Trace long_trace(bool has_frames) {
  TestTrace t;
  std::mt19937 engine{5};
  const auto random = [&engine] { return static_cast<int>(engine() % 10'000); };
  if (has_frames) t.python("main", 0, 1e9, 3);
  for (int i = 0; i < 60'000; ++i) {
    const double at = 20.0 * i;
    const int tid = 1 + i % 3;
    t.op("outer", at, 14 + random() % 5, tid);
    if (random() % 50 == 0) t.op("outlasts", at + 5, 30, tid);
    if (random() % 7 == 0) t.python(i % 2 == 0 ? "nn.Module: A_0" : "f", at + 1, 10, tid);
    if (random() % 3 == 0)
      t.launch("cudaLaunchKernel", at + 2, random() % 30, {.ts = at + 3, .dur = 5.0 + i % 4}, tid);
  }
  return t.finish();
}

void expect_same(const Tree& one, const Tree& many, const Trace& trace) {
  const auto same = [](auto a, auto b) { return std::ranges::equal(a, b); };
  EXPECT_TRUE(same(one.events(), many.events()));
  EXPECT_TRUE(same(one.parents(), many.parents()));
  EXPECT_TRUE(same(one.ends(), many.ends()));
  EXPECT_TRUE(same(one.roots(), many.roots()));
  EXPECT_TRUE(same(one.op_roots(), many.op_roots()));
  EXPECT_TRUE(same(one.linked_gpu_events(), many.linked_gpu_events()));
  EXPECT_EQ(one.stats().discarded, many.stats().discarded);
  EXPECT_EQ(one.stats().discarded_ops, many.stats().discarded_ops);
  EXPECT_EQ(one.stats().bleed_pops, many.stats().bleed_pops);
  EXPECT_EQ(one.stats().unlinked_no_flow, many.stats().unlinked_no_flow);
  for (std::uint32_t row = 0; row < trace.size(); ++row)
    ASSERT_EQ(one.node({row}), many.node({row})) << row;
  for (NodeId node{0}; node.row < one.size(); ++node.row) {
    ASSERT_EQ(one.gpu_sum_ns(node), many.gpu_sum_ns(node)) << node.row;
    ASSERT_EQ(one.gpu_count(node), many.gpu_count(node)) << node.row;
    ASSERT_EQ(one.is_op(node), many.is_op(node)) << node.row;
    ASSERT_EQ(one.is_module(node), many.is_module(node)) << node.row;
  }
}

TEST(TreeBuilder, AnyNumberOfThreadsBuildsTheSameTree) {
  for (const bool has_frames : {false, true}) {
    const Trace trace = long_trace(has_frames);
    for (const bool python_frames : {false, true}) {
      const Tree one = build_tree(trace, {.python_frames = python_frames, .threads = 1});
      EXPECT_GT(one.stats().discarded, 0u);
      for (const int threads : {2, 3, 16})
        expect_same(one, build_tree(trace, {.python_frames = python_frames, .threads = threads}),
                    trace);
    }
  }
}

}  // namespace
}  // namespace tracelens
