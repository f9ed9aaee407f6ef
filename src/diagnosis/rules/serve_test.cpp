#include <gtest/gtest.h>

#include <string>

#include "diagnosis/kit/test_run.hpp"

namespace tracelens {

extern const Rule kServe1, kServe2, kServe4;

namespace {

// Steps of an engine: `between` us of scheduling, then 30 kernels launched one by one.
Trace serve(int steps, double between, double gpu_us = 8) {
  TestTrace t;
  double at = 0;
  for (int i = 0; i < steps; ++i) {
    const double end = add_ops(t, at, 30, gpu_us);
    t.event(Category::kUserAnnotation, "step[DECODE bs=4 toks=4]", at, end - at);
    at = end + between;
  }
  return t.finish();
}

TEST(Serve1, TheGpuWaitsForTheScheduler) {
  TestRun run{serve(5, 300)};
  const auto draft = run.find(kServe1);
  ASSERT_TRUE(draft);
  EXPECT_GT(run.saving_percent(*draft), 15);
  TestRun busy{serve(5, 5)};
  EXPECT_FALSE(busy.find(kServe1));
}

TEST(Serve4, StepsThatDecodeLaunchKernelByKernel) {
  TestRun run{serve(5, 5, 2)};
  const auto draft = run.find(kServe4);
  ASSERT_TRUE(draft);
  EXPECT_GT(run.saving_percent(*draft), 30);
}

TEST(Serve2, PromptsTakeLongAndMakeOthersWait) {
  TestTrace t;
  double at = 0;
  for (int i = 0; i < 8; ++i) {
    const bool is_prompt = i % 4 == 0;
    const double end = add_ops(t, at, is_prompt ? 60 : 10, 8);
    t.event(Category::kUserAnnotation,
            is_prompt ? "step[EXTEND bs=2 toks=4096]" : "step[DECODE bs=4 toks=4]", at, end - at);
    at = end;
  }
  TestRun run{t.finish()};
  const auto draft = run.find(kServe2);
  ASSERT_TRUE(draft);
  EXPECT_TRUE(draft->edit.gpu().empty());  // for information
  TestRun even{serve(8, 0)};
  EXPECT_FALSE(even.find(kServe2));
}

}  // namespace
}  // namespace tracelens
