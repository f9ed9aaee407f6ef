#include "analysis/path/path_sums.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

// Launches by two threads on some streams, with waits now and then; the host or the GPU is late.
Trace some_run(std::uint32_t seed) {
  std::mt19937 random{seed};
  const auto below = [&](int most) { return static_cast<int>(random() % 1000) % most; };
  TestTrace t;
  const int streams = 1 + below(3), gpu_us = 1 + below(30);
  double now = 0, gpu_free = 0;
  for (int i = 0; i < 300; ++i) {
    const int tid = 1 + below(8) / 7;
    t.op("aten::mm", now, 10, tid);
    const double start = std::max(gpu_free, now + 8);
    gpu_free = start + gpu_us + below(5);
    t.launch("cudaLaunchKernel", now + 2, 5,
             {.name = "k", .ts = start, .dur = gpu_free - start, .stream = 7 + i % streams}, tid);
    now += 8 + below(8);
    if (below(30) != 0) continue;
    const double end = std::max(gpu_free, now) + 3;
    t.runtime("cudaDeviceSynchronize", now, end - now, kAbsent, tid);
    now = end;
  }
  return t.finish();
}

TEST(PathSums, AreThoseOfTheSegmentsForAnyWindowAndNumberOfThreads) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const Trace trace = some_run(seed);
    const TraceFacts facts{trace};
    const PathGraph graph{facts};
    const BoundByClasses classes{graph, facts.work(), facts.host_ranges()};
    const std::int64_t end = graph.time(last_point(graph, {}));
    const Interval window{end / 5, end / 3 * 2};
    for (const std::optional<Interval> in : {std::optional<Interval>{}, std::optional{window}})
      for (const int threads : {1, 2, 7, 16}) {
        const CriticalPath path = critical_path(graph, classes, in);
        PathSums sums{trace, {&window, 1}};
        const CriticalPath sum = sum_critical_path(graph, classes, in, threads, sums, 4);
        EXPECT_EQ(sum.bound_by, path.bound_by);
        EXPECT_EQ(sum.time.start, path.time.start);
        EXPECT_EQ(sum.time.end, path.time.end);
        EXPECT_EQ(sum.unattributed_ns, path.unattributed_ns);
        std::vector<std::int64_t> segments(kBoundByNames.size()), named(kBoundByNames.size());
        for (const PathSegment& segment : path.segments) {
          ++segments[static_cast<std::size_t>(segment.bound_by)];
          if (segment.owner.valid()) ++named[static_cast<std::size_t>(segment.bound_by)];
        }
        for (std::size_t i = 0; i < segments.size(); ++i) {
          EXPECT_EQ(sums.of(i).segments, segments[i]);
          for (const auto& [name, of_name] : sums.names_of(i)) named[i] -= of_name.segments;
          EXPECT_EQ(named[i], 0);
        }
        BoundByTimes inside{};
        for (const PathSegment& segment : path.segments)
          inside[static_cast<std::size_t>(segment.bound_by)] += std::max<std::int64_t>(
              0, std::min(segment.end_ns, window.end) - std::max(segment.start_ns, window.start));
        EXPECT_EQ(sums.in_stretches().at(0), inside);
      }
  }
}

}  // namespace
}  // namespace tracelens
