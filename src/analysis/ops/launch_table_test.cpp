#include "analysis/ops/launch_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tracelens/trace_builder.hpp>
#include <tuple>

#include "facts/trace_facts.hpp"
#include "io/parallel.hpp"

namespace tracelens {
namespace {

// Ops on two threads, each with one kernel; every third kernel runs before the one of the op before it,
// and some have no launch.
Trace many_launches(std::size_t ops) {
  TraceBuilder builder;
  const TrackId hosts[] = {builder.intern(Track{1, 1}), builder.intern(Track{1, 2})};
  const TrackId gpu = builder.intern(Track{0, 7});
  const StringId mm = builder.intern("aten::mm"), add = builder.intern("aten::add"),
                 launch = builder.intern("cudaLaunchKernel"), gemm = builder.intern("gemm");
  const auto append = [&](Category category, StringId name, TrackId track, std::int64_t ts,
                          std::int64_t dur) {
    return builder.append({.phase = Phase::kComplete,
                           .category = category,
                           .name = name,
                           .track = track,
                           .ts_ns = ts,
                           .dur_ns = dur});
  };
  for (std::size_t i = 0; i < ops; ++i) {
    const auto ts = static_cast<std::int64_t>(100 * i);
    const TrackId host = hosts[i % 7 == 0 ? 1 : 0];
    append(Category::kCpuOp, i % 2 == 0 ? mm : add, host, ts, 90);
    const EventId call = append(Category::kCudaRuntime, launch, host, ts + 10, 50);
    const EventId kernel =
        append(Category::kKernel, gemm, gpu, i % 3 == 0 ? ts - 150 : ts + 20, 60);
    builder.set_stream(kernel, static_cast<std::int64_t>(i % 5));
    if (i % 11 != 1) builder.add_launch(call, kernel);
  }
  return std::move(builder).finish();
}

TEST(LaunchTable, IsTheSameForAnyNumberOfThreads) {
  const Trace trace = many_launches(io::Ranges::kRangeSize + 20'000);
  const TraceFacts alone{trace, {.threads = 1}}, together{trace, {.threads = 4}};
  const LaunchTable one{alone, Edition::kExtended}, other{together, Edition::kExtended};
  const auto of_gpu = [](const GpuEvent& event) {
    return std::tuple{event.event, event.name, event.start_ns, event.end_ns, event.stream};
  };
  const auto of_launcher = [](const Launcher& op) {
    return std::tuple{op.node,      op.event,      op.first,    op.count,
                      op.direct_ns, op.subtree_ns, op.category, op.by_user};
  };
  ASSERT_GT(one.launchers().size(), io::Ranges::kRangeSize);
  EXPECT_TRUE(std::ranges::equal(one.gpu_events(), other.gpu_events(), {}, of_gpu, of_gpu));
  EXPECT_TRUE(std::ranges::equal(one.file_order(), other.file_order()));
  EXPECT_TRUE(std::ranges::equal(one.launchers(), other.launchers(), {}, of_launcher, of_launcher));
  EXPECT_EQ(one.gpu_events()[0].stream, 2);  // of the first on its thread that has a launch
}

TEST(OpCategories, TextsStayWhereTheyAre) {
  const Trace trace = many_launches(1);
  OpCategories categories{trace, Edition::kExtended, {}};
  const std::string& first = categories.text(categories.id_of("mine"));
  for (int i = 0; i < 100; ++i) (void)categories.id_of(std::to_string(i));
  EXPECT_EQ(&first, &categories.text(0));
  EXPECT_EQ(first, "mine");
}

}  // namespace
}  // namespace tracelens
