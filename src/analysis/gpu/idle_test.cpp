#include "analysis/gpu/idle.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "analysis/gpu/timeline.hpp"
#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

// "state name" -> idle time in microseconds
std::map<std::string, double> by_host(const IdleTables& idle) {
  std::map<std::string, double> out;
  const Table& table = idle.by_host;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const std::string& state = table.column("host state").texts()[row];
    const std::string& name = table.column("name").texts()[row];
    out[name.empty() ? state : state + ' ' + name] = table.column("idle ms").reals()[row] * 1000;
  }
  return out;
}

TEST(GpuIdle, GapsFallIntoSizeClasses) {
  TestTrace t;
  t.launch("cudaLaunchKernel", 0, 1, {.ts = 10, .dur = 10});
  t.launch("cudaLaunchKernel", 2, 1, {.ts = 24, .dur = 10});   // a gap of 4
  t.launch("cudaLaunchKernel", 4, 1, {.ts = 39, .dur = 1});    // of 5
  t.launch("cudaLaunchKernel", 6, 1, {.ts = 6040, .dur = 1});  // of 6000
  const Trace trace = t.finish();
  const Table table = gpu_idle(TraceFacts{trace}).by_size;
  ASSERT_EQ(table.rows(), 5u);
  const auto gaps = table.column("gaps").integers();
  EXPECT_EQ(std::vector(gaps.begin(), gaps.end()), (std::vector<std::int64_t>{1, 1, 0, 0, 1}));
  EXPECT_DOUBLE_EQ(table.column("idle ms").reals()[4], 6);
  EXPECT_DOUBLE_EQ(table.column("percent of idle").reals()[4], 6000.0 / 6009 * 100);
}

TEST(GpuIdle, AGapIsChargedToWhatTheLaunchingThreadWasDoing) {
  TestTrace t;
  t.launch("cudaLaunchKernel", 0, 1, {.name = "before", .ts = 5, .dur = 5});
  // The gap [10, 100): nothing until 20; main from 20; load 30-50; a sync 60-70; mm from 80; the
  // launch begins at 90.
  t.python("main", 20, 200);
  t.python("load", 30, 20);
  t.runtime("cudaStreamSynchronize", 60, 10);
  t.op("aten::mm", 80, 30);
  t.launch("cudaLaunchKernel", 90, 5, {.name = "after", .ts = 100, .dur = 1});
  t.op("another thread", 0, 300, 2);
  const Trace trace = t.finish();
  const IdleTables idle = gpu_idle(TraceFacts{trace, {.python_frames = true}});
  const std::map<std::string, double> expected = {
      {"no host activity", 10}, {"python main", 30},
      {"python load", 20},      {"sync cudaStreamSynchronize", 10},
      {"op aten::mm", 10},      {"launch latency cudaLaunchKernel", 10}};
  const auto found = by_host(idle);
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [what, us] : expected) {
    ASSERT_TRUE(found.contains(what)) << what;
    EXPECT_NEAR(found.at(what), us, 1e-9) << what;
  }
  EXPECT_EQ(idle.by_host.column("name").texts()[0], "main");  // the costliest first
  EXPECT_EQ(idle.by_host.column("gaps").integers()[0], 1);
}

TEST(GpuIdle, WorkLaunchedBeforeTheGapWasQueuedAndUnlinkedWorkSaysNothing) {
  TestTrace t;
  t.launch("cudaLaunchKernel", 0, 1, {.ts = 5, .dur = 5});
  t.launch("cudaLaunchKernel", 2, 1, {.ts = 13, .dur = 5});
  t.gpu({.ts = 20, .dur = 1}, 5);
  const Trace trace = t.finish();
  const auto found = by_host(gpu_idle(TraceFacts{trace}, {.include_unlinked = true}));
  EXPECT_NEAR(found.at("queued"), 3, 1e-9);
  EXPECT_NEAR(found.at("unlinked"), 2, 1e-9);
}

TEST(GpuIdle, NamesThatDifferOnlyInAnAddressAreOne) {
  TestTrace t;
  t.launch("cudaLaunchKernel", 0, 1, {.ts = 1, .dur = 1});
  t.python("<built-in method add_ of Tensor object at 0x7f01>", 10, 20);
  t.python("<built-in method add_ of Tensor object at 0x7f02>", 40, 20);
  t.launch("cudaLaunchKernel", 90, 1, {.ts = 100, .dur = 1});
  const Trace trace = t.finish();
  const auto found = by_host(gpu_idle(TraceFacts{trace, {.python_frames = true}}));
  EXPECT_NEAR(found.at("python <built-in method add_ of Tensor object>"), 40, 1e-9);
}

TEST(GpuIdle, RowsBeyondTheTopBecomeOne) {
  TestTrace t;
  t.launch("cudaLaunchKernel", 0, 1, {.ts = 1, .dur = 1});
  for (int i = 0; i < 5; ++i) t.op("op " + std::to_string(i), 10 + 10 * i, 5 + i);
  t.launch("cudaLaunchKernel", 90, 1, {.ts = 100, .dur = 1});
  const Trace trace = t.finish();
  const Table table = gpu_idle(TraceFacts{trace}, {.top_rows = 2}).by_host;
  ASSERT_EQ(table.rows(), 3u);
  EXPECT_EQ(table.column("host state").texts()[2], "others");
  double sum = 0;
  for (const double ms : table.column("idle ms").reals()) sum += ms;
  EXPECT_NEAR(sum, 0.098, 1e-12);
}

// Whatever the trace, every nanosecond of idle time is charged exactly once.
TEST(GpuIdle, RandomTracesChargeAllIdleTimeOnce) {
  std::mt19937 random{3};
  const auto upto = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 100; ++round) {
    TestTrace t;
    for (int i = 0; i < 40; ++i) {
      const int tid = 1 + upto(3);
      t.op("op " + std::to_string(upto(5)), upto(3000) / 10.0, upto(500) / 10.0, tid);
      const double ts = upto(3000) / 10.0;
      t.launch("cudaLaunchKernel", ts, upto(20) / 10.0,
               {.ts = ts + upto(300) / 10.0, .dur = upto(50) / 10.0, .stream = upto(3)}, tid);
    }
    const Trace trace = t.finish();
    const TraceFacts facts{trace};
    const double idle_ms = gpu_timeline(facts).table.column("time ms").reals()[4];
    const IdleTables idle = gpu_idle(facts);
    for (const Table* table : {&idle.by_size, &idle.by_host}) {
      double sum = 0;
      for (const double ms : table->column("idle ms").reals()) sum += ms;
      ASSERT_NEAR(sum, idle_ms, 1e-9) << table->name() << " in round " << round;
    }
  }
}

}  // namespace
}  // namespace tracelens
