#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnosis/kit/test_run.hpp"

namespace tracelens {

extern const Rule kSync1;

namespace {

// Three steps: 30 ops that keep the GPU busy, a wait for it, 30 ops that do not.
Trace run_with_wait(bool waits) {
  TestTrace t;
  double start = 0;
  for (int step = 0; step < 3; ++step) {
    double half = add_ops(t, start, 30, 20);
    if (waits) {
      const double gpu_end = start + 8 + 30 * 20;
      t.runtime("cudaStreamSynchronize", half, gpu_end - half);
      half = gpu_end;
    }
    const double end = add_ops(t, half, 30, 1);
    add_step(t, step, start, end);
    start = end;
  }
  return t.finish();
}

TEST(Sync1, AWaitInTheStepDrainsTheQueue) {
  TestRun run{run_with_wait(true)};
  const auto draft = run.find(kSync1);
  ASSERT_TRUE(draft);
  EXPECT_EQ(draft->evidence.front().value, 3);
  EXPECT_EQ(draft->edit.syncs().size(), 3U);
}

TEST(Sync1, FirstAdvisesWhatAppliesToAWait) {
  TestRun run{run_with_wait(true)};
  const auto draft = run.find(kSync1);
  ASSERT_TRUE(draft);
  EXPECT_EQ(draft->tries.front(), "remove the synchronize, or wait for an event every n steps");
  for (const std::string& one : draft->tries)  // nothing is copied
    EXPECT_THAT(one, testing::Not(testing::HasSubstr("copies")));
  EXPECT_TRUE(draft->title.empty());
}

// The wait ends when the queue has work for long: the host loses time, the GPU does not run dry.
TEST(Sync1, SaysNothingOfADrainedQueueWhereTheGpuGoesOn) {
  TestTrace t;
  double start = 0;
  for (int step = 0; step < 3; ++step) {
    t.launch("cudaLaunchKernel", start + 1, 2, {.name = "first", .ts = start + 10, .dur = 80});
    t.launch("cudaLaunchKernel", start + 4, 2,
             {.name = "other", .ts = start + 10, .dur = 400, .stream = 8});
    t.runtime("cudaStreamSynchronize", start + 10, 81);
    const double end = add_ops(t, start + 91, 60, 1);
    add_step(t, step, start, end);
    start = end;
  }
  TestRun run{t.finish()};
  const auto draft = run.find(kSync1);
  ASSERT_TRUE(draft);
  EXPECT_EQ(draft->title, "Synchronisation holds the host up");
  EXPECT_THAT(draft->verdict, testing::HasSubstr("the host launches nothing meanwhile"));
}

TEST(Sync1, NothingWithoutWaits) {
  TestRun run{run_with_wait(false)};
  EXPECT_FALSE(run.find(kSync1));
}

}  // namespace
}  // namespace tracelens
