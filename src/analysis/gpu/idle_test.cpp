#include "analysis/gpu/idle.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <tracelens/table_text.hpp>
#include <utility>

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
    out[name.empty() ? state : state + ' ' + name] =
        std::round(table.column("idle ms").reals()[row] * 1e6) / 1e3;
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
  const std::map<std::string, double> expected = {{"no host activity", 10},
                                                  {"python main", 30},
                                                  {"python load", 20},
                                                  {"sync cudaStreamSynchronize", 10},
                                                  {"op aten::mm", 10},
                                                  {"launch call cudaLaunchKernel", 5},
                                                  {"launch latency cudaLaunchKernel", 5}};
  const auto found = by_host(idle);
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [what, us] : expected) {
    ASSERT_TRUE(found.contains(what)) << what;
    EXPECT_NEAR(found.at(what), us, 1e-9) << what;
  }
  EXPECT_EQ(idle.by_host.column("name").texts()[0], "main");  // the costliest first
  EXPECT_EQ(idle.by_host.column("gaps").integers()[0], 1);
}

TEST(GpuIdle, BelowCapturedOpsTheLaunchOfTheGraphCounts) {
  const auto replay = [] {
    TestTrace t;
    t.launch("cudaLaunchKernel", 0, 1, {.name = "before", .ts = 5, .dur = 5});
    t.op("step", 20, 100);
    t.runtime("cudaGraphLaunch", 90, 5, 7);
    t.gpu({.name = "after", .ts = 100, .dur = 1}, 7);
    return t.finish();
  };
  const Trace plain = replay();
  TraceBuilder builder{replay()};
  const EventId launch{5}, kernel{6};  // behind the first launch with its flow, and the op
  ASSERT_EQ(plain.name(launch), "cudaGraphLaunch");
  const EventId call = builder.append({.phase = Phase::kComplete,
                                       .category = Category::kCudaRuntime,
                                       .name = builder.intern("cudaLaunchKernel"),
                                       .track = builder.intern(Track{4711, 1}),
                                       .signature = {},
                                       .ts_ns = 90'000,
                                       .dur_ns = 0});
  builder.set_parent(call, launch);
  builder.set_parent(kernel, call);
  const Trace stitched = std::move(builder).finish();
  EXPECT_EQ(by_host(gpu_idle(TraceFacts{stitched})), by_host(gpu_idle(TraceFacts{plain})));
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

// Both are not "launch latency": the first is something else than launching, the second is not the
// latency of an ordinary launch.
TEST(GpuIdle, ALongWaitAfterTheLaunchAndALongLaunchCallAreNamedAsWhatTheyAre) {
  TestTrace t;
  t.launch("hipLaunchKernel", 0, 1, {.ts = 5, .dur = 5});
  t.launch("hipLaunchKernel", 20, 5, {.name = "late", .ts = 1025, .dur = 5});
  t.launch("hipLaunchKernel", 1040, 500, {.name = "after", .ts = 1545, .dur = 5});
  const Trace trace = t.finish();
  const IdleTables idle = gpu_idle(TraceFacts{trace});
  const auto found = by_host(idle);
  EXPECT_NEAR(found.at("late start late"), 1000, 1e-9);
  EXPECT_NEAR(found.at("slow launch call hipLaunchKernel"), 500, 1e-9);
  EXPECT_NEAR(found.at("launch call hipLaunchKernel"), 5, 1e-9);
  EXPECT_NEAR(found.at("launch latency hipLaunchKernel"), 5, 1e-9);
  EXPECT_EQ(idle.by_host.column("cause").texts()[0], "late start");
}

TEST(GpuIdle, AGapWhileTheLaunchingCallStillRunsIsNotQueuedWork) {
  TestTrace t;
  t.launch("cudaGraphLaunch", 0, 60, {.ts = 5, .dur = 5});
  t.launch("cudaGraphLaunch", 8, 40, {.ts = 30, .dur = 5}, 2);
  const Trace trace = t.finish();
  EXPECT_NEAR(by_host(gpu_idle(TraceFacts{trace})).at("launch call cudaGraphLaunch"), 20, 1e-9);
}

// "cause" -> idle time in microseconds
std::map<std::string, double> by_cause(const Trace& trace) {
  std::map<std::string, double> out;
  for (const IdleShare& share : gpu_idle(TraceFacts{trace}).causes)
    out[std::string{text_of(share.cause)}] = static_cast<double>(share.ns) / 1000;
  return out;
}

TEST(GpuIdle, EveryStateHasOneOfAFewCauses) {
  TestTrace t;
  t.launch("cudaLaunchKernel", 0, 1, {.ts = 5, .dur = 5});
  // The gap [10, 100): 10 nothing, 10 Python, 10 loading data of which 5 in an op, 20 item() of
  // which 8 in the runtime, 20 op of which 5 in a Python frame, 20 launch.
  t.python("train.py(7): main", 20, 200);
  t.python("torch/utils/data/dataloader.py(736): __next__", 30, 10);
  t.op("aten::stack", 32, 5);
  t.op("aten::item", 40, 20);
  t.runtime("cudaMemcpyAsync", 50, 8);
  t.op("aten::mm", 60, 50);
  t.python("hook", 65, 5);
  t.launch("cudaLaunchKernel", 80, 10, {.ts = 100, .dur = 1});
  const Trace trace = t.finish();
  const std::map<std::string, double> expected = {
      {"no host activity", 10}, {"Python", 10},     {"data", 10}, {"sync", 20},
      {"launch", 20},           {"op dispatch", 20}};
  EXPECT_EQ(by_cause(trace), expected);
}

TEST(GpuIdle, CopiesToTheGpuAndAnnotationsOfDataLoadersAreData) {
  TestTrace t;
  t.launch("cudaLaunchKernel", 0, 1, {.ts = 5, .dur = 5});
  t.event(Category::kUserAnnotation, "enumerate(DataLoader)#_Iter.__next__", 20, 30);
  t.op("aten::stack", 30, 10);
  t.event(Category::kUserAnnotation, "ProfilerStep#3", 0, 300);  // tells nothing
  t.launch("cudaMemcpyAsync", 60, 10,
           {.name = "Memcpy HtoD (Pageable -> Device)",
            .ts = 75,
            .dur = 5,
            .category = Category::kGpuMemcpy});
  const Trace trace = t.finish();
  const std::map<std::string, double> expected = {{"no host activity", 20}, {"data", 45}};
  EXPECT_EQ(by_cause(trace), expected);
}

// ROCm traces and JAX profiles have no flows, and the tree of a JAX profile has other launches.
TEST(GpuIdle, WithoutAFlowTheCallOfTheSameCorrelationIsTheLaunch) {
  TestTrace t;
  t.gpu({.ts = 0, .dur = 10}, 1);
  t.runtime("hipStreamSynchronize", 5, 15);
  t.runtime("hipLaunchKernel", 30, 10, 2);
  t.gpu({.ts = 50, .dur = 10}, 2);
  const Trace trace = t.finish();
  const IdleTables idle = gpu_idle(TraceFacts{trace}, {.include_unlinked = true});
  const std::map<std::string, double> expected = {{"sync hipStreamSynchronize", 10},
                                                  {"no host activity", 10},
                                                  {"launch call hipLaunchKernel", 10},
                                                  {"launch latency hipLaunchKernel", 10}};
  EXPECT_EQ(by_host(idle), expected);
  EXPECT_EQ(idle.unlinked_ns, 0);
}

TEST(GpuIdle, WhereNoLaunchIsInTheTraceAllIsUnlinked) {
  TestTrace t;
  t.gpu({.ts = 0, .dur = 10}, 1);
  t.gpu({.ts = 50, .dur = 10}, 2);
  const Trace trace = t.finish();
  const IdleTables idle = gpu_idle(TraceFacts{trace}, {.include_unlinked = true});
  EXPECT_EQ(idle.unlinked_ns, idle.idle_ns);
  ASSERT_EQ(idle.causes.size(), 1u);
  EXPECT_EQ(text_of(idle.causes[0].cause), "no host activity");
}

// Profiles of JAX on ROCm list runtime calls on threads of their own; an autograd thread waits for
// the thread that starts the backward pass.
TEST(GpuIdle, WhereTheLaunchingThreadDoesNothingTheMainThreadTells) {
  TestTrace t;
  t.launch("hipLaunchKernel", 0, 1, {.ts = 5, .dur = 5}, 7);
  // The gap [10, 100): 10 Python, 20 waiting, 30 compiling of which 10 in a frame; nothing from 70.
  t.python("train.py:1 main", 5, 65);
  t.python("api.py:3105 block_until_ready", 20, 20);
  t.op("backend_compile_and_load", 40, 30);
  t.python("compiler.py:9 helper", 50, 10);
  t.op("op of a third thread", 0, 200, 3);
  t.launch("hipLaunchKernel", 90, 5, {.ts = 95, .dur = 5}, 7);
  const Trace trace = t.finish();
  const IdleTables idle = gpu_idle(TraceFacts{trace});
  const std::map<std::string, double> expected = {{"python train.py:1 main", 10},
                                                  {"python api.py:3105 block_until_ready", 20},
                                                  {"compile backend_compile_and_load", 20},
                                                  {"compile compiler.py:9 helper", 10},
                                                  {"no host activity", 20},
                                                  {"launch call hipLaunchKernel", 5}};
  EXPECT_EQ(by_host(idle), expected);
  const std::map<std::string, double> causes = {
      {"Python", 10}, {"sync", 20}, {"op dispatch", 30}, {"no host activity", 20}, {"launch", 5}};
  EXPECT_EQ(by_cause(trace), causes);
}

TEST(GpuIdle, RowsBeyondTheTopBecomeOneInItsPlace) {
  TestTrace t;
  t.launch("cudaLaunchKernel", 0, 1, {.ts = 1, .dur = 1});
  for (int i = 0; i < 5; ++i) t.op("op " + std::to_string(i), 10 + 10 * i, 5 + i);
  t.launch("cudaLaunchKernel", 90, 1, {.ts = 100, .dur = 1});
  const Trace trace = t.finish();
  const Table table = gpu_idle(TraceFacts{trace}, {.top_rows = 2}).by_host;
  // 53 us without activity, 5 to 9 us in each op, 1 and 9 us of the launch; of those of 9 us one is
  // shown. The others are together longer.
  ASSERT_EQ(table.rows(), 3u);
  EXPECT_EQ(table.column("host state").texts()[1], "others");
  EXPECT_EQ(table.column("name").texts()[1], "6 more");
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
    std::int64_t sum_ns = 0;
    for (const IdleShare& share : idle.causes) sum_ns += share.ns;
    ASSERT_EQ(sum_ns, idle.idle_ns);
  }
}

// Long threads are looked at in parts.
TEST(GpuIdle, IsTheSameForAnyNumberOfThreads) {
  TestTrace t;
  std::mt19937 random{3};
  constexpr int kSteps = 36'000;
  const auto below = [&](int most) { return static_cast<int>(random() % 1000) % most; };
  const auto name = [](std::string_view kind, int number) {
    return std::string{kind}.append(" at 0x").append(std::to_string(number));
  };
  t.python("main", 0, kSteps * 100.0);
  t.python("backward", 0, kSteps * 50.0, 2);
  for (int i = 0; i < kSteps; ++i) {
    const double at = i * 100.0;
    const int tid = 1 + below(2);
    t.python(name("frame", below(50)), at + 2, 70.0 - below(50), 1);
    t.python(name("call", below(50)), at + 5, 10, 1);
    t.op(below(9) == 0 ? "aten::item" : "aten::mul", at + 20, 15, 1);
    t.op("aten::add", at + 20, 15.0 + below(20), 2);
    t.python("inner", at + 22, 8, 2);
    t.runtime("cudaMalloc", at + 24, 4, kAbsent, 2);
    t.launch("cudaLaunchKernel", at + 52, 4, {.ts = at + 58 + below(3), .dur = 50}, tid);
  }
  const Trace trace = t.finish();
  const auto rows = [&](int threads) {
    std::vector<std::string> all;
    const Table table = gpu_idle(TraceFacts{trace, {.threads = threads}}).by_host;
    for (std::size_t row = 0; row < table.rows(); ++row) {
      all.emplace_back();
      for (const Table::Column& column : table.columns())
        all.back() += plain_text(column, row) + '\t';
    }
    return all;
  };
  const std::vector<std::string> by_one = rows(1);
  EXPECT_GT(by_one.size(), 8u);
  EXPECT_EQ(rows(8), by_one);
}

}  // namespace
}  // namespace tracelens
