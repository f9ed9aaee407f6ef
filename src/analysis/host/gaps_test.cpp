#include "analysis/host/gaps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "analysis/gpu/thread_walk.hpp"
#include "analysis/host/utilization.hpp"
#include "analysis/kit/test_ops.hpp"
#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

TEST(GpuGaps, AGapIsDividedByWhatTheLaunchingThreadDid) {
  TestTrace t;
  t.launch("cudaLaunchKernel", 0, 1, {.ts = 5, .dur = 5});
  // The gap [10, 200): 10 nothing, 10 Python, 20 fetching, 10 waiting, 10 allocating, 10 launching
  // another, 20 op with a frame of 5, 10 of another call, 10 op, 10 Python, 40 in the launch, 30 until it began.
  t.python("train.py(3): main", 20, 300);
  t.event(Category::kUserAnnotation, "enumerate(DataLoader)#_Iter.__next__", 30, 20);
  t.op("aten::stack", 35, 5);
  t.runtime("cudaStreamSynchronize", 50, 10);
  t.runtime("cudaMalloc", 60, 10);
  t.launch("cudaLaunchKernel", 70, 10, {.ts = 300, .dur = 1, .stream = 8});
  t.op("aten::mm", 80, 40);
  t.python("torch/hook.py(1): hook", 85, 5);
  t.runtime("cudaFuncGetAttributes", 100, 10);
  t.launch("cudaLaunchKernel", 130, 40, {.name = "next", .ts = 200, .dur = 50});
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  const HostWork work{facts};
  const GpuGaps gaps = gpu_gaps_of(work, kLongGapNs);
  ASSERT_EQ(gaps.gaps.size(), 2u);
  const GpuGap& gap = gaps.gaps[0];
  const std::pair<GapPart, int> expected[] = {
      {GapPart::kNone, 10},  {GapPart::kPython, 20},       {GapPart::kDataLoader, 20},
      {GapPart::kSync, 10},  {GapPart::kAlloc, 10},        {GapPart::kLaunch, 10},
      {GapPart::kOp, 30},    {GapPart::kRuntimeOther, 10}, {GapPart::kLaunchCall, 40},
      {GapPart::kDevice, 0}, {GapPart::kLaunchLatency, 30}};
  for (const auto& [part, us] : expected)
    EXPECT_EQ(gap.parts[part], us * 1000) << kGapPartNames[static_cast<std::size_t>(part)];
  EXPECT_EQ(gap.parts.largest(), GapPart::kLaunchCall);
  EXPECT_EQ(trace.text(gap.op_during), "aten::mm");
  EXPECT_EQ(trace.text(gap.python_during), "train.py(3): main");
  EXPECT_EQ(gaps.gaps[1].parts[GapPart::kDevice], 50'000);  // launched long before
  EXPECT_EQ(gaps.devices[0].idle_ns, 240'000);

  const Table table = gpu_gaps(work, gaps);
  EXPECT_EQ(column(table, "cause"), (std::vector<std::string>{"launch_call", "device"}));
  EXPECT_EQ(cell(table, "next_kernel", 0), "next");
  EXPECT_EQ(cell(table, "cpu_during", 0), "launch anomaly");
  const Table summary = gpu_gap_summary(work, gaps);
  EXPECT_EQ(cell(summary, "part", 0), "device");
  EXPECT_EQ(cell(summary, "part", summary.rows() - 2), "total");
  EXPECT_DOUBLE_EQ(summary.column("percent_of_idle").reals()[summary.rows() - 2], 100);
}

TEST(GpuGaps, AGapThatBeginsInAWaitWasDrainedByTheLastSuchCall) {
  TestTrace t;
  t.launch("cudaLaunchKernel", 0, 1, {.ts = 5, .dur = 5});
  const EventId first = t.runtime("cudaStreamSynchronize", 2, 9);
  const EventId second = t.runtime("cudaDeviceSynchronize", 11.5, 1);  // 1.5 us after
  t.launch("cudaLaunchKernel", 90, 1, {.ts = 100, .dur = 5});
  t.runtime("cudaStreamSynchronize", 108, 1);  // too late
  t.launch("cudaLaunchKernel", 110, 1, {.ts = 120, .dur = 5});
  t.runtime("cudaStreamSynchronize", 124, 2);
  t.gpu({.ts = 130, .dur = 5}, 4711);  // its launch is not in the trace: nothing is known
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  const GpuGaps gaps = gpu_gaps_of(HostWork{facts}, 0);
  EXPECT_NE(first, second);
  ASSERT_EQ(gaps.drained.size(), 1u);
  EXPECT_EQ(gaps.drained[0].call, second);
  EXPECT_EQ(gaps.devices[0].drained_ns, 90'000);
  EXPECT_EQ(gaps.gaps[0].drained_by, second);
  EXPECT_EQ(gaps.gaps[2].parts[GapPart::kNone], 5'000);
}

TEST(GpuGaps, ACallThatOutlastsLaterOnesStillWaits) {
  TestTrace t;
  const EventId outlasts = t.runtime("cudaEventSynchronize", 0, 500, kAbsent, 2);
  for (int i = 0; i < 3; ++i) {
    t.launch("cudaLaunchKernel", 100 * i, 1, {.ts = 100.0 * i + 5, .dur = 50});
    t.runtime("cudaStreamSynchronize", 100 * i + 10, 10);  // over before the gap begins
  }
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  const GpuGaps gaps = gpu_gaps_of(HostWork{facts}, 0);
  ASSERT_EQ(gaps.drained.size(), 2u);
  EXPECT_EQ(gaps.drained[0].call, outlasts);
  EXPECT_EQ(gaps.drained[1].call, outlasts);
}

TEST(GpuGaps, EveryGpuHasItsOwnAndPartsAddUp) {
  std::mt19937 random{5};
  const auto upto = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 50; ++round) {
    TestTrace t;
    for (int i = 0; i < 40; ++i) {
      const int tid = 1 + upto(3);
      t.op("op " + std::to_string(upto(5)), upto(3000) / 10.0, upto(500) / 10.0, tid);
      t.event(Category::kUserAnnotation, "enumerate(DataLoader)#", upto(3000) / 10.0,
              upto(50) / 10.0, tid);
      t.runtime("cudaStreamSynchronize", upto(3000) / 10.0, upto(100) / 10.0, kAbsent, tid);
      const double ts = upto(3000) / 10.0;
      t.launch("cudaLaunchKernel", ts, upto(20) / 10.0,
               {.ts = ts + upto(300) / 10.0,
                .dur = upto(50) / 10.0,
                .stream = upto(3),
                .device = upto(2)},
               tid);
    }
    const Trace trace = t.finish();
    const TraceFacts facts{trace};
    const GpuGaps gaps = gpu_gaps_of(HostWork{facts}, 0);
    for (const DeviceGaps& device : gaps.devices) {
      std::int64_t sum = 0;
      for (std::size_t i = 0; i < kGapPartNames.size(); ++i)
        sum += device.part_ns[static_cast<GapPart>(i)];
      ASSERT_EQ(sum, device.idle_ns) << round;
    }
    for (const GpuGap& gap : gaps.gaps) {
      std::int64_t sum = 0;
      for (std::size_t i = 0; i < kGapPartNames.size(); ++i)
        sum += gap.parts[static_cast<GapPart>(i)];
      ASSERT_EQ(sum, length(gap.time)) << round;
    }
  }
}

TEST(GpuUtilization, PartsThatWereBusyLessThanHalfAreOneRow) {
  TestTrace t;
  t.gpu({.ts = 0, .dur = 100}, 1);
  t.gpu({.ts = 50, .dur = 50, .stream = 8}, 2);  // at the same time: counts once
  t.gpu({.ts = 290, .dur = 10}, 3);
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  const Table table = gpu_utilization(HostWork{facts});
  ASSERT_EQ(table.rows(), 12u);  // 10 full, 19 empty ones in one row, 1 full
  EXPECT_DOUBLE_EQ(table.column("busy_percent").reals()[9], 100);
  EXPECT_DOUBLE_EQ(table.column("busy_percent").reals()[10], 0);
  EXPECT_DOUBLE_EQ(table.column("duration_ms").reals()[10], 0.19);
}

TEST(GpuGapsByStream, TheHostIsLateOrTheStreamTakesItsTime) {
  TestTrace t;
  t.launch("cudaLaunchKernel", 0, 1, {.ts = 5, .dur = 5});
  t.launch("cudaLaunchKernel", 2, 1, {.ts = 12, .dur = 5});   // 2 later, launched before
  t.launch("cudaLaunchKernel", 20, 1, {.ts = 30, .dur = 5});  // the call came after
  t.launch("cudaLaunchKernel", 33, 1, {.ts = 95, .dur = 5});  // 60 later
  t.gpu({.ts = 101, .dur = 5}, 4711);                         // no call, 1 later
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  const HostWork work{facts};
  const Table table = gpu_gaps_by_stream(work);
  EXPECT_EQ(column(table, "idle_category"),
            (std::vector<std::string>{"host_wait", "kernel_wait", "other"}));
  EXPECT_EQ(column(table, "idle_time"), (std::vector<std::string>{"13.0", "3.0", "60.0"}));
  EXPECT_EQ(cell(table, "count", 1), "2");
}

// A thread with so many events that it is walked in parts.
TEST(GpuGaps, AreTheSameByAnyNumberOfThreads) {
  constexpr int kRounds = 60'000;
  std::mt19937 random{7};
  const auto below = [&](unsigned end) { return static_cast<int>(random() % end); };
  TestTrace t;
  double gpu_ready = 0;
  for (int i = 0; i < kRounds; ++i) {
    const double ts = 100.0 * i;
    t.python(below(2) == 0 ? "train.py(3): main" : "model.py(7): forward", ts, 99);
    if (below(50) == 0)
      t.event(Category::kUserAnnotation, "enumerate(DataLoader)#_Iter.__next__", ts + 1, 20);
    if (below(3) == 0) t.runtime("cudaStreamSynchronize", ts + 25, 1 + below(9));
    t.op(below(2) == 0 ? "aten::mm" : "aten::relu", ts + 40, 40 + below(19));
    gpu_ready = std::max(gpu_ready, ts + 60 + below(70));
    const double length = 1 + below(60);
    t.launch("cudaLaunchKernel", ts + 45 + below(9), 2, {.ts = gpu_ready, .dur = length});
    gpu_ready += length;
  }
  const Trace trace = t.finish();
  const TraceFacts alone{trace, {.threads = 1}}, shared{trace, {.threads = 8}};
  const HostWork one{alone}, many{shared};
  const ThreadWalk whole{one.rows().of(0), {}};
  EXPECT_GT(cut_walk(trace, whole, rows_of_a_part(trace)).size(), 1u);
  const GpuGaps expected = gpu_gaps_of(one, 0), gaps = gpu_gaps_of(many, 0);
  ASSERT_GT(expected.gaps.size(), 10'000u);
  ASSERT_EQ(gaps.gaps.size(), expected.gaps.size());
  for (std::size_t i = 0; i < kGapPartNames.size(); ++i) {
    const auto part = static_cast<GapPart>(i);
    EXPECT_EQ(gaps.devices[0].part_ns[part], expected.devices[0].part_ns[part]);
    EXPECT_EQ(gaps.devices[0].part_gaps[part], expected.devices[0].part_gaps[part]);
    for (std::size_t gap = 0; gap < gaps.gaps.size(); ++gap)
      ASSERT_EQ(gaps.gaps[gap].parts[part], expected.gaps[gap].parts[part]) << gap;
  }
  for (std::size_t gap = 0; gap < gaps.gaps.size(); ++gap) {
    ASSERT_EQ(gaps.gaps[gap].op_during, expected.gaps[gap].op_during) << gap;
    ASSERT_EQ(gaps.gaps[gap].python_during, expected.gaps[gap].python_during) << gap;
  }
}

}  // namespace
}  // namespace tracelens
