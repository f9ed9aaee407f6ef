// Which runtime call owns which GPU event.
#include "tree/links.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

using ::testing::ElementsAre;

std::vector<EventId> gpu_events_of(const Tree& tree, EventId event) {
  const auto events = tree.gpu_events(tree.node(event));
  return {events.begin(), events.end()};
}

TEST(Links, AFlowTiesACallToItsGpuEventAndAllCallersSumIt) {
  TestTrace t;
  const EventId outer = t.op("aten::linear", 0, 100), inner = t.op("aten::mm", 10, 50);
  const auto [call, kernel] = t.launch("cudaLaunchKernel", 20, 5, {.ts = 200, .dur = 7});
  const EventId relu = t.op("aten::relu", 70, 20);
  const auto second = t.launch("cudaLaunchKernel", 75, 5, {.ts = 210, .dur = 4});
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace);
  EXPECT_EQ(tree.launch_of(kernel), call);
  EXPECT_THAT(gpu_events_of(tree, inner), ElementsAre(kernel));
  EXPECT_THAT(gpu_events_of(tree, relu), ElementsAre(second.gpu));
  EXPECT_THAT(gpu_events_of(tree, outer), ElementsAre(kernel, second.gpu));
  EXPECT_EQ(tree.gpu_sum_ns(tree.node(outer)), 11'000);
  EXPECT_EQ(tree.gpu_count(tree.node(outer)), 2u);
  EXPECT_EQ(tree.nearest_op(tree.node(kernel)), tree.node(inner));
}

TEST(Links, BothEndsOfTheFlowAreNeeded) {
  TestTrace t;
  t.runtime("hipMemsetAsync", 0, 1, 5);  // ROCm fills: an end, but no start
  const EventId memset = t.gpu({.name = "Memset", .category = Category::kGpuMemset}, 5);
  t.flow_end(5);
  t.runtime("cudaLaunchKernel", 2, 1, 6);
  const EventId kernel = t.gpu({.name = "k"}, 6);
  t.flow_start(6);
  const EventId early = t.gpu({.name = "launched before recording"}, 7);
  t.flow_end(7);
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace);
  for (const EventId gpu : {memset, kernel, early}) EXPECT_FALSE(tree.is_linked(gpu));
  EXPECT_EQ(tree.stats().unlinked_no_flow, 2u);
  EXPECT_EQ(tree.stats().unlinked_no_launch, 1u);
  EXPECT_FALSE(tree.launch_of(memset).valid());

  const Tree by_correlation = build_tree(trace, {.link_by_correlation = true});
  EXPECT_TRUE(by_correlation.is_linked(memset));
  EXPECT_TRUE(by_correlation.is_linked(kernel));
  EXPECT_FALSE(by_correlation.is_linked(early));
}

TEST(Links, AnOrdinaryCallOwnsTheLastGpuEventOnTheTrackOfItsLastFlowEnd) {
  TestTrace t;
  const EventId call = t.runtime("cudaLaunchKernel", 0, 1, 5);
  const EventId first = t.gpu({.name = "a", .ts = 1, .dur = 1}, 5);
  const EventId last = t.gpu({.name = "b", .ts = 2, .dur = 1}, 5);
  const EventId elsewhere = t.gpu({.name = "c", .ts = 3, .dur = 1, .stream = 8}, 5);
  t.flow_start(5);
  t.flow_end(5, 8);
  t.flow_end(5, 7);  // this one counts
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace);
  EXPECT_THAT(gpu_events_of(tree, call), ElementsAre(last));
  EXPECT_EQ(tree.stats().unlinked_no_flow, 2u);
  const Tree all = build_tree(trace, {.link_by_correlation = true});
  EXPECT_THAT(gpu_events_of(all, call), ElementsAre(first, last, elsewhere));
}

TEST(Links, AGraphLaunchOwnsEveryGpuEventOfItsCorrelationWithoutAnyFlow) {
  for (const char* name : {"cudaGraphLaunch", "hipGraphLaunch", "cuGraphLaunch",
                           "cudaGraphLaunch_ptsz", "hipGraphLaunch_spt"}) {
    TestTrace t;
    const EventId call = t.runtime(name, 0, 1, 5);
    const EventId late = t.gpu({.name = "a", .ts = 9, .dur = 1}, 5);
    const EventId early = t.gpu({.name = "b", .ts = 2, .dur = 1, .stream = 8, .device = 1}, 5);
    const Trace trace = t.finish();
    EXPECT_THAT(gpu_events_of(build_tree(trace), call), ElementsAre(late, early)) << name;
  }
  EXPECT_FALSE(is_graph_launch("cudaGraphLaunchFoo"));
  EXPECT_FALSE(is_graph_launch("cudaLaunchKernel"));
}

TEST(Links, AFlowThatEndsOnTheHostTrackLinksNothing) {
  TestTrace t;
  const EventId call = t.runtime("cudaLaunchKernel", 0, 1, 5);
  t.flow_start(5);
  t.flow_end_on_host(5);
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace);
  EXPECT_EQ(tree.gpu_count(tree.node(call)), 0u);
  EXPECT_FALSE(tree.parent(tree.node(call)).valid());
}

TEST(Links, OfTwoCallsThatClaimOneGpuEventTheLastInTheFileOwnsIt) {
  TestTrace t;
  const EventId first = t.runtime("cudaLaunchKernel", 0, 1, 5);
  const EventId last = t.runtime("cudaLaunchKernel", 10, 1, 5);
  const EventId kernel = t.gpu({.name = "k", .ts = 20, .dur = 1}, 5);
  t.flow_start(5);
  t.flow_end(5);
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace);
  EXPECT_EQ(tree.launch_of(kernel), last);
  EXPECT_EQ(tree.gpu_count(tree.node(first)), 0u);
}

TEST(Links, ADiscardedCallStillOwnsItsGpuEventAsARoot) {
  TestTrace t;
  t.op("A", 0, 10);
  const auto [call, kernel] = t.launch("cudaLaunchKernel", 5, 20, {.ts = 30, .dur = 2});
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace);
  EXPECT_EQ(tree.stats().discarded, 1u);
  EXPECT_EQ(tree.launch_of(kernel), call);
  EXPECT_FALSE(tree.parent(tree.node(call)).valid());
  ASSERT_EQ(tree.roots().size(), 2u);
  EXPECT_EQ(tree.roots()[1], tree.node(call));
}

TEST(Links, WithoutCorrelationsExternalIdsTie) {
  TestTrace t;
  const EventId call = t.runtime("hipLaunchKernel", 0, 1);
  t.builder().set_external_id(call, 42);
  const EventId kernel = t.gpu({.name = "k"});
  t.builder().set_external_id(kernel, 42);
  t.flow_start(42);
  t.flow_end(42);
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace);
  EXPECT_EQ(tree.launch_of(kernel), call);
  EXPECT_TRUE(tree.stats().links_by_external_id);
}

TEST(Links, CallsWithoutTheNameOfALaunchTieByCorrelation) {  // rocprofv3 may not name its calls
  TestTrace t;
  const EventId call = t.runtime("hip_api 214", 0, 1, 7);
  t.builder().set_category_text(call, t.builder().intern("hip_api"));
  const EventId kernel = t.gpu({.name = "k", .ts = 3, .dur = 1}, 7);
  t.builder().set_external_id(kernel, 1);  // the number of the dispatch: says nothing about calls
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace);
  EXPECT_EQ(tree.launch_of(kernel), call);
  EXPECT_FALSE(tree.stats().links_by_external_id);
}

TEST(Links, WithoutAnyCallNothingIsSaidAboutIds) {
  TestTrace t;
  t.gpu({.name = "k"}, 5);
  const Trace trace = t.finish();
  EXPECT_FALSE(build_tree(trace).stats().links_by_external_id);
}

TEST(Links, ScatteredIdsTieAsWellAsCountedOnes) {
  TestTrace t;
  constexpr std::int64_t kIds[] = {-9'000'000'000'000'000'000, 3, 4'000'000'000,
                                   9'000'000'000'000'000'000};
  std::vector<EventId> calls, kernels;
  for (const std::int64_t id : kIds) calls.push_back(t.runtime("cudaLaunchKernel", 1, 0, id));
  for (const std::int64_t id : kIds) {
    kernels.push_back(t.gpu({.name = "k"}, id));
    t.flow_start(id);
    t.flow_end(id);
  }
  t.gpu({.name = "stranger"}, 5);
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace);
  for (std::size_t i = 0; i < calls.size(); ++i) EXPECT_EQ(tree.launch_of(kernels[i]), calls[i]);
  EXPECT_EQ(tree.stats().unlinked_no_launch, 1u);
}

TEST(Links, GpuEventsComeBehindTheHostChildrenOfTheirCall) {
  TestTrace t;
  const auto outer = t.launch("cudaGraphLaunch", 0, 10, {.name = "outer", .ts = 50, .dur = 1});
  const auto inner = t.launch("cudaLaunchKernel", 2, 3, {.name = "inner", .ts = 60, .dur = 2});
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace);
  const std::vector<EventId> order(tree.events().begin(), tree.events().end());
  EXPECT_THAT(order, ElementsAre(outer.call, inner.call, inner.gpu, outer.gpu));
  EXPECT_EQ(tree.end(tree.node(outer.call)).row, 4u);
  EXPECT_EQ(tree.end(tree.node(inner.call)).row, 3u);
}

TEST(Links, PythonFramesAloneAreAGpuOnlyTrace) {
  TestTrace t;
  t.python("main", 0, 10);
  t.launch("cudaLaunchKernel", 1, 1, {.ts = 3, .dur = 1});
  const Trace trace = t.finish();
  EXPECT_TRUE(build_tree(trace).stats().gpu_only);
}

// So many calls that several threads share them. Not all ids rise; some calls have none, some ids have several calls,
// and some GPU events the id of no call.
Trace many_launches(bool by_external_id) {
  constexpr int kCalls = 300'000, kNear = 1000;
  std::mt19937 random{11};
  TestTrace t;
  const auto with_id = [&](std::int64_t id, const auto& append) {
    const EventId event = append(by_external_id ? kAbsent : id);
    if (by_external_id && id != kAbsent) t.builder().set_external_id(event, id);
  };
  for (int i = 0; i < kCalls; ++i) {
    const std::int64_t id = 2 * (i % 7 == 0 ? i - static_cast<int>(random() % kNear) : i);
    const double ts = 2.0 * i;
    const char* const name = random() % 8 == 0 ? "cudaGraphLaunch" : "cudaLaunchKernel";
    with_id(i > 0 && random() % 16 == 0 ? kAbsent : id,
            [&](std::int64_t own) { return t.runtime(name, ts, 1, own); });
    for (auto kernels = random() % 3; kernels > 0; --kernels) {
      const bool is_stranger = random() % 32 == 0;
      with_id(random() % 32 == 0 ? kAbsent
              : is_stranger      ? kCalls + id
                                 : id,
              [&](std::int64_t own) {
                return t.gpu({.ts = ts + 1, .dur = 1, .stream = static_cast<int>(random() % 2)},
                             own);
              });
    }
    if (random() % 8 > 0) t.flow_start(id);
    if (random() % 8 > 0) t.flow_end(id, static_cast<int>(random() % 2));
  }
  return t.finish();
}

TEST(Links, AreTheSameByAnyNumberOfThreads) {
  for (const bool by_external_id : {false, true}) {
    const Trace trace = many_launches(by_external_id);
    for (const bool by_correlation : {false, true}) {
      const Launches one = find_launches(trace,
                                         {.link_by_correlation = by_correlation, .threads = 1}),
                     many = find_launches(trace,
                                          {.link_by_correlation = by_correlation, .threads = 8});
      EXPECT_EQ(one.by_external_id(), by_external_id);
      EXPECT_GT(one.linked(), 10'000u);
      EXPECT_GT(one.without_launch(), 1'000u);
      EXPECT_EQ(one.without_flow() > 1'000u, !by_correlation);
      EXPECT_EQ(many.linked(), one.linked());
      EXPECT_EQ(many.without_launch(), one.without_launch());
      EXPECT_EQ(many.without_flow(), one.without_flow());
      for (const EventId event : trace.all_events())
        ASSERT_EQ(many.next(event), one.next(event)) << event.row;
    }
  }
}

TEST(Links, ATreeOfManyIsTheSameByAnyNumberOfThreads) {
  const Trace trace = many_launches(false);
  const Tree one = build_tree(trace, {.threads = 1}), many = build_tree(trace, {.threads = 8});
  EXPECT_TRUE(std::ranges::equal(many.roots(), one.roots()));
  EXPECT_TRUE(std::ranges::equal(many.events(), one.events()));
  EXPECT_TRUE(std::ranges::equal(many.parents(), one.parents()));
  EXPECT_TRUE(std::ranges::equal(many.linked_gpu_events(), one.linked_gpu_events()));
  EXPECT_GT(one.roots().size(), 200'000u);
}

}  // namespace
}  // namespace tracelens
