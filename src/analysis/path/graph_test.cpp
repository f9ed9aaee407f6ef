#include "analysis/path/graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "analysis/path/lags.hpp"
#include "analysis/path/path.hpp"
#include "facts/trace_facts.hpp"
#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

struct Analysed {
  explicit Analysed(Trace a_trace)
      : trace{std::move(a_trace)},
        facts{trace},
        graph{facts},
        classes{graph, facts.work(), facts.host_ranges()} {}
  [[nodiscard]] CriticalPath path(std::optional<Interval> window = {}) const {
    return critical_path(graph, classes, window);
  }
  [[nodiscard]] std::vector<std::int64_t> sources(EventId event, EdgeKind kind, bool at_end) const {
    PathPoint point = graph.start_of(event);
    if (at_end) point = graph.end_of(point);
    std::vector<std::int64_t> times;
    for (const PathGraph::Edge& edge : graph.extra(point))
      if (edge.kind == kind) times.push_back(graph.time(edge.from) / 1000);
    return times;
  }
  [[nodiscard]] bool replays() const { return tracelens::replays(graph, recorded_lags(graph)); }

  Trace trace;
  TraceFacts facts;
  PathGraph graph;
  BoundByClasses classes;
};

using Times = std::vector<std::int64_t>;

std::int64_t us(const CriticalPath& path, BoundBy bound_by) {
  return path.bound_by[static_cast<std::size_t>(bound_by)] / 1000;
}

// An op of 20 us launches a kernel of 100 us, which a call waits for.
TestTrace launch_and_wait() {
  TestTrace t;
  t.op("aten::mm", 0, 20);
  t.launch("cudaLaunchKernel", 5, 5, {.name = "gemm", .ts = 15, .dur = 100});
  t.runtime("cudaDeviceSynchronize", 30, 90);
  t.op("aten::add", 130, 10);
  return t;
}

TEST(PathGraph, ThePathGoesBackToWhatWasWaitedFor) {
  const Analysed a{launch_and_wait().finish()};
  const CriticalPath path = a.path();
  // op until the launch, latency 10, kernel 100, return of the call 5, nothing 10, op 10
  EXPECT_EQ(us(path, BoundBy::kHostOp), 5 + 10);
  EXPECT_EQ(us(path, BoundBy::kLaunchLatency), 10);
  EXPECT_EQ(us(path, BoundBy::kGpuCompute), 100);
  EXPECT_EQ(us(path, BoundBy::kSyncReturn), 5);
  EXPECT_EQ(us(path, BoundBy::kHostOther), 10);
  EXPECT_EQ(path.time, (Interval{0, 140000}));
  EXPECT_EQ(path.unattributed_ns, 0);
  std::int64_t at = 0;
  for (const PathSegment& segment : path.segments) {
    EXPECT_EQ(segment.start_ns, at);
    at = segment.end_ns;
  }
  EXPECT_TRUE(a.replays());
}

TEST(PathGraph, AWindowClipsThePath) {
  const Analysed a{launch_and_wait().finish()};
  const CriticalPath path = a.path(Interval{50000, 125000});
  EXPECT_EQ(path.time, (Interval{50000, 120000}));
  EXPECT_EQ(us(path, BoundBy::kGpuCompute), 65);
  EXPECT_EQ(us(path, BoundBy::kSyncReturn), 5);
}

TEST(PathGraph, EventsOfAStreamFollowTheOneThatEndedLast) {
  TestTrace t;
  const auto first = t.launch("cudaLaunchKernel", 0, 1, {.ts = 5, .dur = 50});
  const auto second = t.launch("cudaLaunchKernel", 2, 1, {.ts = 60, .dur = 5});
  const auto late = t.launch("cudaLaunchKernel", 90, 1, {.ts = 80, .dur = 5});  // clock skew
  const Analysed a{t.finish()};
  EXPECT_EQ(a.sources(second.gpu, EdgeKind::kKernelGap, false), Times{55});
  EXPECT_EQ(a.sources(second.gpu, EdgeKind::kLaunch, false), Times{2});
  EXPECT_EQ(a.sources(first.gpu, EdgeKind::kKernelGap, false), Times{});
  EXPECT_EQ(a.sources(late.gpu, EdgeKind::kLaunch, false), Times{});
  EXPECT_EQ(a.graph.dropped(), 1u);
  EXPECT_TRUE(a.replays());
}

TEST(PathGraph, AKernelThatBeginsWhileTheOneBeforeDrainsFollowsIt) {
  TestTrace t;
  t.launch("cuLaunchKernelEx", 0, 1, {.ts = 5, .dur = 50});
  const auto second = t.launch("cuLaunchKernelEx", 2, 1, {.ts = 50, .dur = 20});
  const auto inside = t.launch("cuLaunchKernelEx", 4, 1, {.ts = 60, .dur = 5});
  const Analysed a{t.finish()};
  EXPECT_EQ(a.sources(second.gpu, EdgeKind::kKernelGap, false), Times{50});
  EXPECT_EQ(a.sources(inside.gpu, EdgeKind::kKernelGap, false), Times{});  // at the same time
  EXPECT_TRUE(a.replays());
}

TEST(PathGraph, AStreamThatStartsRightAfterAnotherWaitedForIt) {
  TestTrace t;
  t.launch("cudaLaunchKernel", 0, 1, {.ts = 5, .dur = 95, .stream = 7});
  const auto waited = t.launch("cudaLaunchKernel", 2, 1, {.ts = 110, .dur = 5, .stream = 20});
  const auto prompt = t.launch("cudaLaunchKernel", 100, 1, {.ts = 125, .dur = 5, .stream = 21});
  const auto elsewhere =
      t.launch("cudaLaunchKernel", 4, 1, {.ts = 110, .dur = 5, .stream = 7, .device = 1});
  const Analysed a{t.finish()};
  EXPECT_EQ(a.sources(waited.gpu, EdgeKind::kStreamGuess, false), Times{100});
  EXPECT_EQ(a.sources(prompt.gpu, EdgeKind::kStreamGuess, false), Times{});
  EXPECT_EQ(a.sources(elsewhere.gpu, EdgeKind::kStreamGuess, false), Times{});
}

// Stream 8 waits for an event that was recorded on stream 7 after its first kernel.
TEST(PathGraph, AStreamWaitsForAnEventAsRecorded) {
  TestTrace t;
  t.launch("cudaLaunchKernel", 0, 2, {.name = "first", .ts = 10, .dur = 100});
  t.runtime("cudaEventRecord", 3, 1, 1);
  t.launch("cudaLaunchKernel", 5, 2, {.name = "later", .ts = 110, .dur = 500});
  t.runtime("cudaStreamWaitEvent", 8, 1, 2);
  const EventId waiting =
      t.launch("cudaLaunchKernel", 10, 2, {.name = "waiting", .ts = 250, .dur = 10, .stream = 8})
          .gpu;
  const EventId next =
      t.launch("cudaLaunchKernel", 15, 2, {.name = "next", .ts = 260, .dur = 10, .stream = 8}).gpu;
  TraceBuilder& b = t.builder();
  const EventId wait = b.append({.phase = Phase::kComplete,
                                 .category = Category::kOtherCategory,
                                 .name = b.intern("Stream Wait Event"),
                                 .track = b.intern(Track{0, 8}),
                                 .signature = {},
                                 .ts_ns = 8500,
                                 .dur_ns = 100,
                                 .correlation = 2});
  b.set_category_text(wait, b.intern("cuda_sync"));
  b.set_stream(wait, 8);
  b.set_device(wait, 0);
  b.set_details(wait, b.intern(R"({"wait_on_stream": 7, "wait_on_cuda_event_record_corr_id": 1})"));
  const Analysed a{t.finish()};
  EXPECT_EQ(a.sources(waiting, EdgeKind::kStreamEvent, false), Times{110});
  EXPECT_EQ(a.sources(next, EdgeKind::kStreamEvent, false), Times{});
  EXPECT_TRUE(a.replays());
}

TEST(PathGraph, CallsWaitForWorkLaunchedBeforeThem) {
  TestTrace t;
  t.launch("cudaLaunchKernel", 0, 1, {.ts = 5, .dur = 45});
  const EventId sync = t.runtime("cudaStreamSynchronize", 10, 60);
  t.launch("cudaLaunchKernel", 20, 1, {.ts = 55, .dur = 5}, 2);  // after the wait began
  const auto pinned = t.launch("cudaMemcpyAsync", 100, 20,
                               {.name = "Memcpy HtoD (Pinned -> Device)",
                                .ts = 105,
                                .dur = 5,
                                .category = Category::kGpuMemcpy});
  const auto pageable = t.launch("cudaMemcpyAsync", 200, 20,
                                 {.name = "Memcpy HtoD (Pageable -> Device)",
                                  .ts = 205,
                                  .dur = 5,
                                  .category = Category::kGpuMemcpy});
  t.launch("cudaLaunchKernel", 300, 1, {.ts = 305, .dur = 50});
  const EventId free = t.runtime("cudaFree", 310, 50);
  const EventId query = t.runtime("cudaEventQuery", 400, 5);
  const Analysed a{t.finish()};
  EXPECT_EQ(a.sources(sync, EdgeKind::kSync, true), Times{50});
  EXPECT_EQ(a.sources(pinned.call, EdgeKind::kSync, true), Times{});
  EXPECT_EQ(a.sources(pageable.call, EdgeKind::kSync, true), Times{210});
  EXPECT_EQ(a.sources(free, EdgeKind::kSync, true), Times{355});
  EXPECT_EQ(a.sources(query, EdgeKind::kSync, true), Times{});
  EXPECT_TRUE(a.replays());
}

TEST(PathGraph, WorkOfBeforeTheRecordingIsWaitedFor) {
  TestTrace t;
  t.gpu({.name = "gemm", .ts = 0, .dur = 50});
  const EventId sync = t.runtime("cudaDeviceSynchronize", 10, 45);
  const Analysed a{t.finish()};
  EXPECT_EQ(a.sources(sync, EdgeKind::kSync, true), Times{50});
}

TEST(PathGraph, ForwardAndBackwardThreadsHandOver) {
  TestTrace t;
  t.op("aten::linear", 0, 50, 1);
  const EventId backward = t.op("autograd::engine::evaluate_function: AddmmBackward0", 60, 30, 2);
  const EventId optimizer = t.op("aten::add_", 100, 10, 1);
  const EventId later = t.op("autograd::engine::evaluate_function: AddmmBackward0", 130, 5, 2);
  const Analysed a{t.finish()};
  EXPECT_EQ(a.sources(backward, EdgeKind::kHandoff, false), Times{50});
  EXPECT_EQ(a.sources(optimizer, EdgeKind::kHandoff, false), Times{90});
  EXPECT_EQ(a.sources(later, EdgeKind::kHandoff, false), Times{110});
  const CriticalPath path = a.path();
  EXPECT_EQ(us(path, BoundBy::kThreadHandoff), 10 + 10 + 20);
  EXPECT_EQ(us(path, BoundBy::kHostOp), 50 + 30 + 10 + 5);
  EXPECT_TRUE(a.replays());
}

TEST(PathGraph, LoadingDataIsHostTimeByTheAnnotation) {
  TestTrace t;
  t.op("aten::add", 0, 10);
  t.event(Category::kUserAnnotation, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
          20, 60);
  t.op("aten::stack", 30, 10);
  t.op("aten::mm", 90, 10);
  const Analysed a{t.finish()};
  const CriticalPath path = a.path();
  EXPECT_EQ(us(path, BoundBy::kDataLoading), 60);
  EXPECT_EQ(us(path, BoundBy::kHostOp), 20);
  EXPECT_EQ(us(path, BoundBy::kHostOther), 20);
}

TEST(PathGraph, EventsThatOutlastTheirCallerEndWithIt) {
  TestTrace t;
  t.op("outer", 0, 50);
  const EventId inner = t.op("inner", 10, 100);
  const Analysed a{t.finish()};
  EXPECT_EQ(a.graph.time(a.graph.end_of(a.graph.start_of(inner))), 50000);
  EXPECT_TRUE(std::ranges::is_sorted(a.graph.times()));
}

TEST(PathGraph, EventsWithoutLengthAtOneTimeReplay) {
  TestTrace t;
  for (int i = 0; i < 4; ++i) {
    t.op("autograd::engine::evaluate_function", 10, 0, 2);
    t.op("aten::add", 10, 0, 1);
    t.launch("cudaMemcpy", 10, 0,
             {.name = "Memcpy HtoD", .ts = 10, .dur = 0, .category = Category::kGpuMemcpy});
    t.runtime("cudaFree", 10, 0, kAbsent, 2);
  }
  t.op("aten::add", 20, 5, 1);
  const Analysed a{t.finish()};
  EXPECT_EQ(a.graph.order().size(), a.graph.size());
  EXPECT_TRUE(a.replays());
}

TEST(PathGraph, NothingOfAnEmptyTrace) {
  const Analysed a{TestTrace{}.finish()};
  EXPECT_EQ(a.graph.size(), 0u);
  EXPECT_TRUE(a.path().segments.empty());
  EXPECT_TRUE(a.replays());
}

}  // namespace
}  // namespace tracelens
