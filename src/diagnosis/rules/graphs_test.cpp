// GRAPH-1, GRAPH-2, COMP-1, COMP-2, RECOMP-1, OPT-2: steps that are launched, compiled or computed in
// pieces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnosis/kit/test_run.hpp"

namespace tracelens {

extern const Rule kComp1, kComp2, kGraph1, kGraph2, kOpt2, kRecomp1;

namespace {

Trace same_steps(std::string_view last_kernel_of_second, bool waits) {
  TestTrace t;
  double start = 0;
  for (int step = 0; step < 3; ++step) {
    double at = add_ops(t, start, 30, 2);
    if (waits) {
      t.runtime("cudaStreamSynchronize", at, 10);
      at += 10;
    }
    at = add_ops(t, at, 10, 2, "aten::mul", step == 1 ? last_kernel_of_second : "mul_kernel");
    add_step(t, step, start, at);
    start = at;
  }
  return t.finish();
}

TEST(Graph1, StepsThatLaunchTheSame) {
  TestRun run{same_steps("mul_kernel", false)};
  const auto draft = run.find(kGraph1);
  ASSERT_TRUE(draft);
  EXPECT_EQ(draft->evidence.front().value, 40);
  EXPECT_GT(run.saving_percent(*draft), 50);
}

TEST(Graph1, NotWithAWaitOrOtherKernels) {
  TestRun waits{same_steps("mul_kernel", true)};
  EXPECT_FALSE(waits.find(kGraph1));
  TestRun others{same_steps("add_kernel", false)};
  EXPECT_FALSE(others.find(kGraph1));
}

Trace graph_steps(int graphs, int kernels) {
  TestTrace t;
  double start = 0;
  std::int64_t correlation = 1;
  for (int step = 0; step < 2; ++step) {
    double at = start;
    for (int graph = 0; graph < graphs; ++graph) {
      t.runtime("cudaGraphLaunch", at, 5, correlation);
      for (int i = 0; i < kernels; ++i) t.gpu({.ts = at + 6 + i, .dur = 0.8}, correlation);
      ++correlation;
      at += 60;
    }
    add_step(t, step, start, at);
    start = at;
  }
  return t.finish();
}

TEST(Graph2, ManyGraphsOfFewKernels) {
  TestRun run{graph_steps(30, 4)};
  EXPECT_TRUE(run.find(kGraph2));
  TestRun one{graph_steps(1, 50)};
  EXPECT_FALSE(one.find(kGraph2));
}

Trace compiled_steps(int functions) {
  TestTrace t;
  double start = 0;
  for (int step = 0; step < 2; ++step) {
    double at = start;
    for (int i = 0; i < 6; ++i) {
      t.op("Torch-Compiled Region: " + std::to_string(i % functions) + "/0", at + 100, 100);
      add_ops(t, at + 150, 4, 2);
      at += 200;
    }
    add_step(t, step, start, at);
    start = at;
  }
  return t.finish();
}

TEST(Comp1, BreaksBetweenCompiledRegions) {
  TestRun run{compiled_steps(3)};
  const auto draft = run.find(kComp1);
  ASSERT_TRUE(draft);
  EXPECT_EQ(draft->evidence[0].value, 6);
  EXPECT_EQ(draft->evidence[1].value, 3);
  EXPECT_GT(run.saving_percent(*draft), 30);
  TestRun blocks{compiled_steps(1)};  // one function, called for every block
  EXPECT_FALSE(blocks.find(kComp1));
}

TEST(Comp2, CompilersInTheWindow) {
  TestTrace t;
  t.python("torch/_dynamo/convert_frame.py(1): __call__", 0, 500);
  t.python("torch/_inductor/compile_fx.py(1): compile", 100, 200);
  add_step(t, 0, 0, add_ops(t, 500, 30, 2));
  TestRun run{t.finish()};
  const auto draft = run.find(kComp2);
  ASSERT_TRUE(draft);
  EXPECT_EQ(draft->evidence[0].value, 1);  // the outermost counts
  EXPECT_DOUBLE_EQ(draft->evidence[1].value, 0.5);
}

Trace training(bool again, std::string_view optimizer, double optimizer_gpu) {
  TestTrace t;
  double start = 0;
  for (int step = 0; step < 3; ++step) {
    double at = add_ops(t, start, 30, 2);
    if (again) t.python("torch/utils/checkpoint.py(1154): unpack_hook", at, 300);
    at = add_ops(t, at, 30, 2);
    const double end = add_ops(t, at, 2, optimizer_gpu, optimizer);
    t.event(Category::kUserAnnotation, "Optimizer.step#AdamW.step", at, end - at);
    add_step(t, step, start, end);
    start = end;
  }
  return t.finish();
}

TEST(Recomp1, WhatCheckpointingComputesAgain) {
  TestRun run{training(true, "aten::_fused_adamw_", 2)};
  const auto draft = run.find(kRecomp1);
  ASSERT_TRUE(draft);
  EXPECT_NEAR(run.saving_percent(*draft), 45, 10);
  TestRun none{training(false, "aten::_fused_adamw_", 2)};
  EXPECT_FALSE(none.find(kRecomp1));
}

// The GPU is busy with a collective nearly all the time; of what it computes, half is done again.
TEST(Recomp1, IsMeasuredByWhatTheGpuComputes) {
  TestTrace t;
  t.launch(
      "cudaLaunchKernel", 0, 4,
      {.name = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", .ts = 8, .dur = 20000, .stream = 20});
  const double at = add_ops(t, 10, 30, 2);
  t.python("torch/utils/checkpoint.py(1154): unpack_hook", at, 300);
  add_ops(t, at, 30, 2);
  add_step(t, 0, 0, 20100);
  TestRun run{t.finish()};
  const auto draft = run.find(kRecomp1);
  ASSERT_TRUE(draft);
  EXPECT_DOUBLE_EQ(draft->evidence[2].value, 50);
}

TEST(Opt2, AFusedOptimizerThatTakesItsTime) {
  TestRun run{training(false, "aten::_fused_adamw_", 60)};
  const auto draft = run.find(kOpt2);
  ASSERT_TRUE(draft);
  EXPECT_EQ(run.saving_percent(*draft), 0);
  TestRun small{training(false, "aten::_fused_adamw_", 2)};
  EXPECT_FALSE(small.find(kOpt2));
}

}  // namespace
}  // namespace tracelens
