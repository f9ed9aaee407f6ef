#include "diagnosis/engine/glance.hpp"

#include <gtest/gtest.h>

#include "diagnosis/kit/test_run.hpp"

namespace tracelens {
namespace {

constexpr int kSteps = 12;

// Every step launches an optimizer's many small kernels; the eighth is three times as long.
Trace run_of_steps() {
  TestTrace t;
  double start = 0;
  for (int step = 0; step < kSteps; ++step) {
    const double forward = add_ops(t, start, step == 7 ? 600 : 50, 2);
    const double end = add_ops(t, forward, 150, 2, "aten::mul_");
    t.event(Category::kUserAnnotation, "Optimizer.step#SGD.step", forward, end - forward);
    add_step(t, step, start, end);
    start = end;
  }
  return t.finish();
}

TEST(Glance, SmallTracesAreDiagnosedWhole) {
  const Trace trace = run_of_steps();
  const Glance seen = glance(TraceFacts{trace}, {});
  EXPECT_FALSE(seen.is_part());
  EXPECT_EQ(seen.steps, seen.all_steps);
  EXPECT_EQ(seen.diagnosis.verdict, diagnose(trace).verdict);
}

TEST(Glance, AFewTypicalStepsTellWhatAllDo) {
  const Trace trace = run_of_steps();
  const Glance seen = glance(TraceFacts{trace}, {}, trace.size() / 4);
  ASSERT_TRUE(seen.is_part());
  EXPECT_EQ(seen.steps, 3u);
  EXPECT_EQ(seen.all_steps, static_cast<std::size_t>(kSteps));
  ASSERT_EQ(seen.diagnosis.steps.size(), 3u);
  for (const std::string& step : seen.diagnosis.steps) EXPECT_NE(step, "ProfilerStep#7");
  const Diagnosis all = diagnose(trace);
  ASSERT_FALSE(seen.diagnosis.findings.empty());
  EXPECT_EQ(seen.diagnosis.findings.front().id, all.findings.front().id);
}

TEST(Glance, WithoutStepsTheMiddleIsLookedAt) {
  TestTrace t;
  add_ops(t, 0, 400, 2);
  const Trace trace = t.finish();
  const Glance seen = glance(TraceFacts{trace}, {}, trace.size() / 4);
  EXPECT_TRUE(seen.is_part());
  EXPECT_EQ(seen.all_steps, 0u);
  EXPECT_GT(seen.ns, 0);
  EXPECT_GT(seen.diagnosis.gpu_busy_ns, 0);
}

// GPU work at the end alone, as in the trace of a capture.
TEST(Glance, TheMiddleIsWhereTheGpuWorks) {
  TestTrace t;
  for (int i = 0; i < 4000; ++i) t.op("aten::add", 10 * i, 5);
  add_ops(t, 38'000, 10, 2);
  const Trace trace = t.finish();
  const Glance seen = glance(TraceFacts{trace}, {}, trace.size() / 20);
  EXPECT_TRUE(seen.is_part());
  EXPECT_GT(seen.diagnosis.gpu_busy_ns, 0);
  EXPECT_EQ(seen.diagnosis.verdict.find("no GPU work"), std::string::npos);
}

}  // namespace
}  // namespace tracelens
