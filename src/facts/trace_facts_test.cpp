#include "facts/trace_facts.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

TEST(TraceFacts, PythonFramesAndExecuteAreLookedThroughForTheLauncher) {
  TestTrace t;
  const EventId op = t.op("aten::mm", 0, 100);
  t.op("execute", 10, 80);
  t.python("frame", 11, 70);
  t.launch("cudaLaunchKernel", 20, 5, {.ts = 200, .dur = 1});
  t.op("execute", 300, 10);
  const auto lonely = t.launch("cudaLaunchKernel", 301, 5, {.ts = 400, .dur = 1});
  const Trace trace = t.finish();
  const TraceFacts facts{trace, {.python_frames = true}};
  ASSERT_EQ(facts.launchers().size(), 2u);
  EXPECT_EQ(facts.launchers()[0], facts.tree().node(op));
  EXPECT_EQ(facts.launchers()[1], facts.tree().node(lonely.call));
}

// Fused ranks: each marks the steps of the run.
TEST(TraceFacts, StepsOfSeveralProcessesAreStepsOfTheRun) {
  TestTrace t;
  const auto mark = [&t](int process, const char* name, double ts) {
    t.builder().append({.phase = Phase::kComplete,
                        .category = Category::kUserAnnotation,
                        .name = t.builder().intern(name),
                        .track = t.builder().intern(Track{process, 1}),
                        .signature = {},
                        .ts_ns = static_cast<std::int64_t>(ts * 1e3),
                        .dur_ns = 100'000});
  };
  mark(1, "ProfilerStep#1", 0);
  mark(2, "ProfilerStep#1", 5);
  mark(1, "ProfilerStep#2", 100);
  mark(2, "ProfilerStep#2", 105);
  mark(2, "ProfilerStep#2", 900);  // of another run
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  ASSERT_EQ(facts.steps().size(), 3u);
  EXPECT_EQ(facts.steps()[0].name, "ProfilerStep#1");
  EXPECT_EQ(facts.steps()[0].dur_ns, 105'000);
  EXPECT_EQ(facts.steps()[1].ts_ns, 100'000);
  EXPECT_EQ(facts.steps()[1].dur_ns, 105'000);
  EXPECT_EQ(facts.steps()[2].ts_ns, 900'000);
}

TEST(TraceFacts, UnlinkedGpuEventsAreTakenWhenAskedForOrWhenThereAreNoOthers) {
  TestTrace t;
  t.op("aten::mm", 0, 10);
  t.launch("cudaLaunchKernel", 1, 1, {.ts = 20, .dur = 5});
  t.gpu({.name = "unlinked", .ts = 30, .dur = 5});
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  EXPECT_EQ(facts.gpu_events(false).events.size(), 1u);
  EXPECT_EQ(facts.gpu_events(true).events.size(), 2u);
  EXPECT_FALSE(facts.gpu_events(false).fell_back);

  TestTrace lone;
  lone.gpu({.ts = 0, .dur = 5});
  const Trace lone_trace = lone.finish();
  const TraceFacts lone_facts{lone_trace};
  EXPECT_EQ(lone_facts.gpu_events(false).events.size(), 1u);
  EXPECT_TRUE(lone_facts.gpu_events(false).fell_back);
}

TEST(TraceFacts, IterationsAreFoundByFramesThatAreNotInTheTree) {
  TestTrace t;
  t.python("loop", 0, 1000);
  for (int i = 0; i < 4; ++i) {
    t.python("train_step", 10 + 100 * i, 90);
    t.op("aten::mm", 20 + 100 * i, 50);
    t.launch("cudaLaunchKernel", 30 + 100 * i, 5, {.ts = 35.0 + 100 * i, .dur = 20});
  }
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  EXPECT_TRUE(find_steps(trace, facts.tree()).empty());
  EXPECT_EQ(facts.steps().size(), 4u);
}

// Many fills of one launch outside the loop, linked by correlation only, are more than all the loop does.
TEST(TraceFacts, IterationsAreFoundWithoutLinksByCorrelation) {
  TestTrace t;
  t.python("main", 0, 1000);
  t.python("setup", 1, 90);
  t.event(Category::kCudaRuntime, "hipLaunchKernel", 10, 5, 1, 999);
  for (int i = 0; i < 40; ++i) t.gpu({.name = "fill", .ts = 10.0 + i, .dur = 0.5}, 999);
  for (int i = 0; i < 4; ++i) {
    t.python("train_step", 110 + 100 * i, 90);
    t.op("aten::mm", 120 + 100 * i, 50);
    t.launch("hipLaunchKernel", 130 + 100 * i, 5, {.ts = 135.0 + 100 * i, .dur = 20});
  }
  const Trace trace = t.finish();
  for (const bool frames : {false, true}) {
    const TraceFacts facts{trace, {.python_frames = frames, .link_by_correlation = true}};
    EXPECT_TRUE(find_steps(trace, facts.tree()).empty());
    EXPECT_EQ(facts.steps().size(), 4u);
  }
}

TEST(TraceFacts, ThreadsThatAskAtTheSameTimeGetTheSameAnswer) {
  TestTrace t;
  for (int i = 0; i < 100; ++i) {
    t.op("aten::mm", 10 * i, 9);
    t.launch("cudaLaunchKernel", 10 * i + 1, 1, {.ts = 10.0 * i + 3, .dur = 5});
  }
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  std::vector<const NodeId*> answers(8);
  std::vector<std::thread> threads;
  for (const NodeId*& answer : answers)
    threads.emplace_back([&facts, &answer] { answer = facts.launchers().data(); });
  for (std::thread& thread : threads) thread.join();
  for (const NodeId* const answer : answers) EXPECT_EQ(answer, answers.front());
  EXPECT_EQ(facts.launchers().size(), 100u);
}

TEST(TraceSpan, IsTheSameByAnyNumberOfThreads) {
  TestTrace t;
  constexpr int kEvents = 300'000;
  for (int i = 0; i < kEvents; ++i) t.op("op", 1000 + 300.0 * (i % 977), i % 11);
  t.event(Category::kCpuOp, "first", 3, 1);
  t.op("last", 2.0 * kEvents, 5);
  const Trace trace = t.finish();
  for (const int threads : {1, 4}) {
    EXPECT_EQ(trace_span(trace, threads).start_ns, 3'000);
    EXPECT_EQ(trace_span(trace, threads).end_ns, (2 * kEvents + 5) * 1000);
  }
}

}  // namespace
}  // namespace tracelens
