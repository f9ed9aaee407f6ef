#include "analysis/path/model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

const PathOptions kAsRecorded{.window = {}, .correct_overhead = false, .costs = {}};

struct Modelled {
  explicit Modelled(Trace a_trace, const PathOptions& options = kAsRecorded)
      : trace{std::move(a_trace)}, facts{trace}, model{facts, options} {}
  [[nodiscard]] std::int64_t us() const { return model.length_ns() / 1000; }
  [[nodiscard]] std::int64_t us_with(const PathEdit& edit) const {
    return model.length_with(edit) / 1000;
  }
  [[nodiscard]] TrackId track(EventId event) const { return trace.tracks()[event.row]; }
  Trace trace;
  TraceFacts facts;
  PathModel model;
};

// 10 ops of 10 us with a launch each, kernels of 4 us that begin 4 us after it, a wait for the last.
struct HostBound {
  TestTrace t;
  EventId first_op, sync;
  std::vector<EventId> kernels;
  HostBound() {
    for (int i = 0; i < 10; ++i) {
      const EventId op = t.op("aten::mul", 10 * i, 10);
      if (i == 0) first_op = op;
      kernels.push_back(
          t.launch("cudaLaunchKernel", 10 * i + 4, 2, {.ts = 10.0 * i + 8, .dur = 4}).gpu);
    }
    sync = t.runtime("cudaStreamSynchronize", 100, 8);  // the last kernel ends at 102
  }
};

TEST(PathModel, WithoutEditsTheWindowIsAsRecorded) {
  HostBound run;
  const Modelled m{run.t.finish()};
  ASSERT_TRUE(m.model.usable()) << m.model.why_not();
  EXPECT_EQ(m.us(), 108);
  EXPECT_EQ(m.model.recorded_ns(), 108000);
  EXPECT_EQ(m.us_with(PathEdit{}), 108);
  EXPECT_EQ(m.model.steps(), 1u);
  EXPECT_EQ(m.model.launching_track(), m.track(run.sync));
}

TEST(PathModel, FasterKernelsSaveOnlyWhatIsWaitedFor) {
  HostBound run;
  const Modelled m{run.t.finish()};
  PathEdit edit;
  for (const EventId kernel : run.kernels) edit.scale_gpu(kernel, 0.25);
  EXPECT_EQ(m.us_with(edit), 105);  // of the last kernel 3 us
  PathEdit set;
  set.set_gpu(run.kernels.back(), 0);
  EXPECT_EQ(m.us_with(set), 104);
  EXPECT_GT(m.model.slack_ns(run.kernels.front()), 0);
  EXPECT_EQ(m.model.slack_ns(run.kernels.back()), 0);
  EXPECT_EQ(m.model.slack_ns(run.first_op), std::nullopt);
}

TEST(PathModel, HostRangesShrinkByTheirOverlap) {
  HostBound run;
  const Modelled m{run.t.finish()};
  const TrackId track = m.track(run.sync);
  PathEdit half;
  half.scale_host(track, 0, 50000, 0.5);
  EXPECT_EQ(m.us_with(half), 108 - 25);
  half.scale_host(track, 10000, 20000, 0.5);  // in the same range: not twice
  EXPECT_EQ(m.us_with(half), 108 - 25);
  PathEdit partial;  // the first 2 of the 4 us before the launch
  partial.scale_host(track, 0, 2000, 0);
  EXPECT_EQ(m.us_with(partial), 106);
  partial.scale_host(track, 2000, 3000, 0);
  EXPECT_EQ(m.us_with(partial), 105);
  PathEdit set;
  set.set_host(track, 0, 50000, 20000);
  EXPECT_EQ(m.us_with(set), 108 - 30);
  set.set_host(track, 0, 50000, 90000);  // never longer
  EXPECT_EQ(m.us_with(set), 108 - 30);
  EXPECT_EQ(m.model.host_ns(track, 0, 50000), 50000);
}

TEST(PathModel, FactorsAboveOneLengthen) {
  HostBound run;
  const Modelled m{run.t.finish()};
  const TrackId track = m.track(run.sync);
  PathEdit kernels;
  for (const EventId kernel : run.kernels) kernels.scale_gpu(kernel, 2);
  EXPECT_EQ(m.us_with(kernels), 108 + 4);  // of the last kernel
  PathEdit all_gpu;
  all_gpu.scale_all_gpu(2);
  EXPECT_EQ(m.us_with(all_gpu), 108 + 4);
  PathEdit half;
  half.scale_host(track, 0, 50000, 2);
  EXPECT_EQ(m.us_with(half), 108 + 50);
  half.scale_host(track, 10000, 20000, 2);  // in the same range: not twice
  EXPECT_EQ(m.us_with(half), 108 + 50);
  PathEdit partial;  // the first 2 of the 4 us before the launch
  partial.scale_host(track, 0, 2000, 2);
  EXPECT_EQ(m.us_with(partial), 108 + 2);
  PathEdit all_host;  // the last launch comes 94 us later; the wait for its kernel is no host time
  all_host.scale_all_host(2);
  EXPECT_EQ(m.us_with(all_host), 108 + 94);
  PathEdit set;
  set.set_gpu(run.kernels.back(), 50000);  // never longer
  EXPECT_EQ(m.us_with(set), 108);
}

TEST(PathModel, WhereEditsMeetShorteningGoesBeforeLengthening) {
  HostBound run;
  const Modelled m{run.t.finish()};
  const TrackId track = m.track(run.sync);
  PathEdit twice, thrice, half;
  twice.scale_host(track, 0, 50000, 2);
  thrice.scale_host(track, 0, 10000, 3);
  half.scale_host(track, 10000, 20000, 0.5);
  std::array<const PathEdit*, 3> all = {&twice, &thrice, &half};
  for (int turn = 0; turn < 3; ++turn) {  // in any order
    EXPECT_EQ(m.model.outcome_with(all).length_ns / 1000, 108 + 20 - 5 + 30);
    std::rotate(all.begin(), all.begin() + 1, all.end());
  }
}

TEST(PathModel, SeveralEditsTakeTheSmallestLag) {
  HostBound run;
  const Modelled m{run.t.finish()};
  const TrackId track = m.track(run.sync);
  PathEdit half, fifth;
  half.scale_host(track, 0, 50000, 0.5);
  fifth.scale_host(track, 0, 10000, 0.2);
  const std::array<const PathEdit*, 2> both = {&half, &fifth};
  EXPECT_EQ(m.model.outcome_with(both).length_ns / 1000, 108 - 20 - 8);
}

TEST(PathModel, WithoutTheWaitTheCallReturnsAtOnce) {
  HostBound run;
  run.t.op("aten::add", 108, 50);
  const Modelled m{run.t.finish()};
  EXPECT_EQ(m.us(), 158);
  PathEdit edit;
  edit.drop_sync(run.sync);
  EXPECT_EQ(m.us_with(edit), 150);
  PathEdit all;
  all.drop_all_syncs();
  EXPECT_EQ(m.us_with(all), 150);
}

TEST(PathModel, LaunchesCanBeFree) {
  HostBound run;
  const Modelled m{run.t.finish()};
  PathEdit latency;
  latency.drop_launch_latency();
  EXPECT_EQ(m.us_with(latency), 108 - 4);  // of the last kernel
  PathEdit cost;
  cost.drop_launch_cost();
  EXPECT_LE(m.us_with(cost), 108 - 20);
}

TEST(PathModel, TheGpuStartsTheWindowEmpty) {
  TestTrace t;
  t.event(Category::kUserAnnotation, "ProfilerStep#1", 100, 100);
  t.gpu({.name = "of the step before", .ts = 50, .dur = 100});
  t.launch("cudaLaunchKernel", 90, 5, {.name = "launched before", .ts = 150, .dur = 10});
  const auto own = t.launch("cudaLaunchKernel", 110, 5, {.ts = 160, .dur = 20});
  const EventId sync = t.runtime("cudaDeviceSynchronize", 120, 65);
  const Modelled m{t.finish()};
  ASSERT_TRUE(m.model.usable());
  EXPECT_EQ(m.model.window(), (Interval{100000, 200000}));
  // launch at 10, latency of 8 when nothing holds the kernel up, 20 for the kernel, 5 to return
  EXPECT_EQ(m.us(), 10 + 8 + 20 + 5);
  EXPECT_EQ(m.model.simulated(own.gpu), (Interval{118000, 138000}));
  EXPECT_EQ(m.model.simulated(sync), std::nullopt);
}

TEST(PathModel, RecordingCostsAreTakenFromTheHost) {
  TestTrace t;
  const EventId op = t.op("aten::mul", 0, 100);
  t.launch("cudaLaunchKernel", 50, 10, {.ts = 62, .dur = 5});
  t.op("aten::mul", 120, 10);
  const Modelled m{t.finish(), {}};
  EXPECT_EQ(m.model.recorded_ns(), 130000);
  EXPECT_FALSE(m.model.costs_are_calibrated());  // neither shapes nor frames: 2 us an op
  // ends of ops 1 us each (the first one's start has no stretch before it), the call's 1.15 us each
  EXPECT_EQ(m.model.length_ns(), 130000 - 3 * 1000 - 2 * 1150);
  EXPECT_EQ(m.model.host_ns(m.track(op), 0, 50000), 50000 - 1150);
}

TEST(PathModel, NoStretchGivesMoreThanItsShareAndRoundTripsGiveNothing) {
  TestTrace t;
  for (int i = 0; i < 30; ++i) t.runtime("cudaEventQuery", i, 0.5);  // 2.3 us each of 1 us
  t.op("aten::item", 40, 20);
  t.launch("cudaLaunchKernel", 30, 1, {.ts = 45, .dur = 5});
  t.runtime("cudaStreamSynchronize", 44, 8);
  const Modelled m{t.finish(), {}};
  const TrackId track = m.trace.tracks()[0];
  EXPECT_EQ(m.model.host_ns(track, 0, 29500), 29500 * 2 / 5);
  EXPECT_EQ(m.model.host_ns(track, 52000, 60000), 8000);
}

TEST(PathModel, LaunchesOfCompiledCodeAreSlowOnlyWhileTheyAreRecorded) {
  for (const bool is_compiled : {true, false}) {
    TestTrace t;
    t.op("aten::mul", 0, 5);
    t.op(is_compiled ? "triton_poi_fused_mul_0" : "my::op", 10, 80);
    t.launch("cuLaunchKernel", 60, 5, {.ts = 70, .dur = 5});
    t.op("aten::mul", 95, 5);
    const Modelled m{t.finish(),
                     {.window = {},
                      .correct_overhead = true,
                      .costs = {.op_ns = 0,
                                .call_ns = 0,
                                .memory_ns = 0,
                                .python_ns = 0,
                                .plain_op_ns = 0,
                                .compiled_ns = 40000}}};
    EXPECT_EQ(m.us() < 100, is_compiled);
    EXPECT_GE(m.us(), 60);
  }
}

TEST(PathModel, ResourcesAreHostAndGpuTime) {
  HostBound run;
  const Modelled m{run.t.finish()};
  const Resources now = m.model.resources();
  EXPECT_EQ(now.host_ns, 100000);
  EXPECT_EQ(now.gpu_ns, 40000);
  EXPECT_EQ(now.loader_ns, 0);
  EXPECT_EQ(now.total_ns(), m.model.length_ns());
  PathEdit edit;
  edit.scale_all_gpu(0.5);
  edit.scale_all_host(0.1);
  edit.drop_all_syncs();
  const PathEdit* const edits[] = {&edit};
  const Resources after = m.model.outcome_with(edits).resources;
  EXPECT_EQ(after.gpu_ns, 20000);
  EXPECT_LT(after.host_ns, 12000);
  EXPECT_EQ(after.rest_ns, 0);
}

TEST(PathModel, ALoaderInOtherProcessesSetsThePace) {
  TestTrace t;
  const EventId fetch =
      t.event(Category::kUserAnnotation,
              "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 0, 60);
  t.launch("cudaLaunchKernel", 70, 5, {.ts = 80, .dur = 20});
  const Modelled m{t.finish()};
  const Resources now = m.model.resources();
  EXPECT_EQ(now.loader_ns, 100000);
  EXPECT_EQ(now.host_ns, 15000);
  PathEdit edit;
  edit.scale_host(m.track(fetch), 0, 60000, 0);
  const PathEdit* const edits[] = {&edit};
  EXPECT_EQ(m.model.outcome_with(edits).resources.total_ns(), 20000);
}

TEST(PathModel, TracesWithoutLinkedWorkAreNotUsable) {
  TestTrace t;
  t.op("aten::add", 0, 10);
  t.gpu({.ts = 5, .dur = 3});
  const Modelled m{t.finish()};
  EXPECT_FALSE(m.model.usable());
  EXPECT_FALSE(m.model.why_not().empty());
  EXPECT_EQ(m.us(), 0);
  EXPECT_EQ(m.us_with(PathEdit{}), 0);
  const Modelled empty{TestTrace{}.finish()};
  EXPECT_FALSE(empty.model.usable());
}

TEST(PathModel, EditsOfStrangersChangeNothing) {
  HostBound run;
  const Modelled m{run.t.finish()};
  PathEdit edit;
  edit.set_gpu(EventId{}, 0);
  edit.set_gpu(EventId{1000000}, 0);
  edit.set_gpu(run.sync, 0);
  edit.drop_sync(run.kernels[0]);
  edit.drop_sync(run.first_op);
  edit.scale_host(TrackId{}, 0, 100000, 0);
  edit.scale_host(m.track(run.sync), 50000, 50000, 0);
  edit.scale_host(m.track(run.sync), 50000, 40000, 0);
  EXPECT_EQ(m.us_with(edit), m.us());
}

TEST(PathModel, ThePathFillsTheWindow) {
  HostBound run;
  const Modelled m{run.t.finish(), {}};
  std::int64_t at = 0;
  for (const PathSegment& segment : m.model.segments()) {
    EXPECT_EQ(segment.start_ns, at);
    at = segment.end_ns;
  }
  EXPECT_EQ(at, m.model.length_ns());
}

TEST(PathModel, HostTimeBeforeTheFirstOpIsTimeOfTheRun) {
  TestTrace t;
  t.event(Category::kUserAnnotation, "ProfilerStep#1", 0, 200);
  t.op("aten::mul", 100, 10);
  const EventId call = t.launch("cudaLaunchKernel", 104, 2, {.ts = 108, .dur = 4}).call;
  const Modelled m{t.finish()};
  EXPECT_EQ(m.us(), 112);
  PathEdit edit;
  edit.scale_host(m.track(call), 0, 100000, 0.5);
  EXPECT_EQ(m.us_with(edit), 62);
  EXPECT_EQ(m.model.host_ns(m.track(call), 0, 100000), 100000);
}

TEST(PathModel, WhatFollowsAHandoverIsHostTime) {
  TestTrace t;
  t.op("aten::mul", 0, 10);
  t.launch("cudaLaunchKernel", 2, 2, {.ts = 6, .dur = 2});
  t.op("autograd::engine::evaluate_function: MulBackward0", 20, 30, 2);
  t.launch("cudaLaunchKernel", 22, 2, {.ts = 26, .dur = 2}, 2);
  const EventId last = t.op("aten::add_", 90, 10);  // 40 us after the way back has ended
  t.launch("cudaLaunchKernel", 92, 2, {.ts = 96, .dur = 2});
  const Modelled m{t.finish()};
  EXPECT_EQ(m.us(), 100);
  EXPECT_EQ(m.model.host_ns(m.track(last), 10000, 90000), 40000);
  PathEdit edit;
  edit.scale_host(m.track(last), 60000, 90000, 0);  // the wait before stays
  EXPECT_EQ(m.us_with(edit), 70);
}

TEST(PathModel, ThreadsThatLaunchNothingDecideNothing) {
  HostBound run;
  run.t.op("aten::pin_memory", 500, 100, 9);
  const Modelled m{run.t.finish()};
  EXPECT_EQ(m.us(), 108);
}

TEST(PathModel, LaunchesOfCompiledCodeCostMore) {
  const auto length = [](std::string_view name) {
    TestTrace t;
    for (int i = 0; i < 4; ++i) {
      t.op(name, 200 * i + 150, 50);
      t.launch("cuLaunchKernel", 200 * i + 160, 4, {.ts = 200.0 * i + 165, .dur = 4});
    }
    const PathOptions corrected;
    return Modelled{t.finish(), corrected}.us();
  };
  EXPECT_LT(length("triton_poi_fused_add_0"), length("aten::add") - 200);
}

}  // namespace
}  // namespace tracelens
