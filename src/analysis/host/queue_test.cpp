#include "analysis/host/queue.hpp"

#include <gtest/gtest.h>

#include "analysis/host/launches.hpp"
#include "analysis/kit/test_ops.hpp"
#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

TEST(QueueLength, GrowsWhenTheCallBeginsAndShrinksWhenItsWorkBegins) {
  TestTrace t;
  t.launch("cudaLaunchKernel", 0, 2, {.ts = 5, .dur = 100});
  t.launch("cudaLaunchKernel", 10, 2, {.ts = 105, .dur = 10});
  t.launch("cudaMemcpyAsync", 20, 2, {.ts = 115, .dur = 10});
  t.launch("cudaLaunchKernel", 30, 2, {.ts = 31, .dur = 5, .stream = 9});
  t.gpu({.ts = 1, .dur = 1}, 4711);  // its call is not in the trace
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  const HostWork work{facts};
  const QueueLengths queues = queue_lengths(work);
  ASSERT_EQ(queues.lanes.size(), 2u);
  EXPECT_EQ(queues.lanes[0].stream, 7);
  std::vector<std::int64_t> lengths;
  for (const QueueChange& change : queues.lanes[0].changes) lengths.push_back(change.length);
  EXPECT_EQ(lengths, (std::vector<std::int64_t>{1, 0, 1, 2, 1, 0}));
  EXPECT_EQ(queues.at_launch, (std::vector<std::int64_t>{1, 1, 2, 1, 0}));

  const Table table = queue_length(work, queues);
  EXPECT_EQ(column(table, "stream"), (std::vector<std::string>{"7", "9"}));
  EXPECT_EQ(cell(table, "count", 0), "6");
  EXPECT_DOUBLE_EQ(table.column("time_mean").reals()[0],
                   (5 * 1 + 10 * 1 + 85 * 2 + 10 * 1) / 115.0);
  EXPECT_DOUBLE_EQ(table.column("time_at_zero_pct").reals()[0], 5 / 115.0 * 100);
  EXPECT_FALSE(table.has_column("device"));
  const Table series = queue_length_series(work, queues);
  EXPECT_EQ(series.rows(), 8u);
  EXPECT_DOUBLE_EQ(series.column("ts").reals()[1], 5);  // since the first event
}

TEST(QueueLength, WorkThatSeemsToStartBeforeItsCallIsCountedAndNotNegative) {
  TestTrace t;
  t.launch("cudaLaunchKernel", 10, 2, {.ts = 5, .dur = 10});
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  const HostWork work{facts};
  const QueueLengths queues = queue_lengths(work);
  EXPECT_EQ(queues.lanes[0].below_zero, 1);
  EXPECT_EQ(queues.lanes[0].changes.back().length, 0);
}

TEST(QueueLength, ItIsNotLeftOverForTheRestOfTheTrace) {
  TestTrace t;
  for (int i = 0; i < 3; ++i)
    t.launch("cudaLaunchKernel", 100.0 * i + 10, 2,
             {.ts = i == 0 ? 5.0 : 100.0 * i + 60, .dur = 1});
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  const HostWork work{facts};
  const QueueLengths queues = queue_lengths(work);
  EXPECT_EQ(queues.at_launch, (std::vector<std::int64_t>{1, 1, 1}));
  EXPECT_EQ(queues.lanes[0].changes.back().length, 0);
}

TEST(QueueBlocked, LongCallsOnAFullQueueAreBlocked) {
  TestTrace t;
  for (int i = 0; i < 600; ++i)  // all wait for the first kernel
    t.launch("cudaLaunchKernel", 10 * i, i == 590 ? 2000 : 4,
             {.ts = i == 0 ? 1.0 : 20000.0 + i, .dur = i == 0 ? 19000.0 : 1.0});
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  const HostWork work{facts};
  const QueueLengths queues = queue_lengths(work);
  EXPECT_EQ(queues.lanes[0].most, 599);
  const BlockedCalls blocked = blocked_calls(work, queues, 0, 500);
  EXPECT_EQ(blocked.calls, 1);
  EXPECT_EQ(blocked.blocked_ns, 1'996'000);
  EXPECT_EQ(blocked.at_limit_ns, 20'000'000 + 100'000 - 5'000'000);
}

TEST(LaunchStats, SaysWhatCallWorkAndDelayTook) {
  TestTrace t;
  t.op("aten::mm", 0, 10);
  t.launch("cudaLaunchKernel", 1, 4, {.name = "gemm", .ts = 8, .dur = 100});
  t.launch("cudaLaunchKernel", 20, 60, {.name = "starts at once", .ts = 70, .dur = 1});
  t.runtime("cudaGraphLaunch", 200, 10, 1);
  t.gpu({.name = "second", .ts = 320, .dur = 1}, 1);
  t.gpu({.name = "first", .ts = 311, .dur = 2}, 1);
  t.flow_start(1);
  t.flow_end(1);
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  const HostWork work{facts};
  const std::vector<Launch> launches = launches_of(work, queue_lengths(work));
  const Table table = launch_stats(work, launches);
  EXPECT_EQ(column(table, "kernel"), (std::vector<std::string>{"gemm", "starts at once", "first"}));
  EXPECT_EQ(column(table, "op"), (std::vector<std::string>{"aten::mm", "", ""}));
  EXPECT_EQ(column(table, "launch_delay"), (std::vector<std::string>{"3.0", "0.0", "101.0"}));
  EXPECT_EQ(column(table, "gpu_events"), (std::vector<std::string>{"1", "1", "2"}));
  EXPECT_EQ(launches[2].queue, 2);  // both events of the graph wait; the first joined last

  const Table summary = launch_summary(work, launches);
  ASSERT_EQ(column(summary, "call"),
            (std::vector<std::string>{"cudaLaunchKernel", "cudaGraphLaunch"}));
  EXPECT_EQ(cell(summary, "runtime_outlier", 0), "1");
  EXPECT_EQ(cell(summary, "short", 0), "0");
  EXPECT_EQ(cell(summary, "delay_outlier", 1), "1");
  EXPECT_DOUBLE_EQ(summary.column("cpu_duration_p50").reals()[0], 32);
}

TEST(LaunchSummary, CallsOfSeveralThreadsAtOnceOverlap) {
  TestTrace t;
  t.launch("cudaLaunchKernel", 0, 10, {.ts = 20, .dur = 1}, 1);
  t.launch("cudaLaunchKernel", 4, 10, {.ts = 22, .dur = 1}, 2);
  t.runtime("cudaMalloc", 12, 10, kAbsent, 3);
  t.runtime("cudaStreamSynchronize", 0, 100, kAbsent, 4);
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  const HostWork work{facts};
  const Table table = launch_summary(work, launches_of(work, queue_lengths(work)));
  EXPECT_DOUBLE_EQ(table.column("overlapping_launch_ms").reals()[0], (6 + 6 + 2) / 1e3);
}

TEST(LaunchSummary, ACallOfNoLengthOverlapsNothing) {
  TestTrace t;
  t.launch("cudaLaunchKernel", 0, 10, {.ts = 20, .dur = 1}, 1);
  t.launch("cudaLaunchKernel", 4, 10, {.ts = 22, .dur = 1}, 2);
  t.launch("cudaLaunchKernel", 50, 0, {.ts = 60, .dur = 1}, 1);
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  const HostWork work{facts};
  const Table table = launch_summary(work, launches_of(work, queue_lengths(work)));
  EXPECT_DOUBLE_EQ(table.column("overlapping_launch_ms").reals()[0], (6 + 6) / 1e3);
}

}  // namespace
}  // namespace tracelens
