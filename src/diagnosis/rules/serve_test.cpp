#include <gtest/gtest.h>

#include <string>

#include "diagnosis/kit/test_run.hpp"

namespace tracelens {

extern const Rule kServe1, kServe2, kServe3, kServe4;

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

TEST(Serve3, WeightsAreReadForAFewRequests) {
  const auto decode = [](const char* step, int requests) {
    TestTrace t;
    double at = 0;
    for (int i = 0; i < 5; ++i, at += 1000) {
      for (int j = 0; j < 30; ++j) {
        t.op("aten::mm", at + 10 * j, 9,
             arguments_of({.name = "",
                           .dims = {shape({requests, 4096}), shape({4096, 4096})},
                           .types = {"c10::BFloat16", "c10::BFloat16"}}));
        t.launch("cudaLaunchKernel", at + 10 * j + 2, 4,
                 {.name = "gemv", .ts = at + 15 + 20 * j, .dur = 15});
      }
      t.event(Category::kUserAnnotation, step, at, 900);
    }
    return t.finish();
  };
  TestRun run{decode("step[DECODE bs=4 toks=4]", 4)};
  const auto draft = run.find(kServe3);
  ASSERT_TRUE(draft);
  EXPECT_TRUE(draft->edit.gpu().empty());  // for information
  TestRun many{decode("step[DECODE bs=64 toks=64]", 64)};
  EXPECT_FALSE(many.find(kServe3));
  TestRun other{serve(5, 5)};  // no products
  EXPECT_FALSE(other.find(kServe3));
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
