#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tracelens/trace_builder.hpp>
#include <utility>

#include "diagnosis/kit/test_run.hpp"
#include "diagnosis/rules/graph_launches.hpp"

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
  EXPECT_THAT(
      draft->verdict,
      testing::HasSubstr("In 5 steps that only generate the host launches 30 kernels each"));
  TestRun one{serve(1, 5, 2)};
  const auto single = one.find(kServe4);
  ASSERT_TRUE(single);
  EXPECT_THAT(single->verdict, testing::HasSubstr("In 1 step that only generates the host"));
}

// With the trace of the capture each kernel stands below the call that was captured.
TEST(Serve4, KernelsOfAGraphBelowCapturedCallsAreTheGraphs) {
  TestTrace t;
  std::vector<EventId> graphs, kernels;
  for (int i = 0; i < 3; ++i) {
    const double at = 100 * i;
    t.event(Category::kUserAnnotation, "step[DECODE bs=4 toks=4]", at, 90);
    graphs.push_back(t.runtime("cudaGraphLaunch", at + 5, 5, i + 1));
    for (int k = 0; k < 30; ++k) {
      kernels.push_back(t.gpu({.ts = at + 12 + 2 * k, .dur = 1.5}, i + 1));
    }
  }
  TraceBuilder builder{t.finish()};
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const EventId call =
        builder.append({.phase = Phase::kComplete,
                        .category = Category::kCudaRuntime,
                        .name = builder.intern("cudaLaunchKernel"),
                        .track = {0},
                        .signature = {},
                        .ts_ns = static_cast<std::int64_t>(1000 * (100 * (k / 30) + 5)),
                        .dur_ns = 5000});
    builder.set_parent(call, graphs[k / 30]);
    builder.set_parent(kernels[k], call);
  }
  TestRun run{std::move(builder).finish()};
  EXPECT_FALSE(run.find(kServe4));
  EXPECT_DOUBLE_EQ(graph_launches_of(run.context()).coverage_pct, 100);
  EXPECT_EQ(graph_launches_of(run.context()).launches, 3U);
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
