#include "analysis/host/step_phases.hpp"

#include <gtest/gtest.h>

#include "analysis/kit/test_ops.hpp"
#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

TEST(StepPhases, WorkBelongsToTheStepThatLaunchedIt) {
  TestTrace t;
  t.event(Category::kUserAnnotation, "ProfilerStep#1", 0, 100);
  t.event(Category::kUserAnnotation, "enumerate(DataLoader)#_Iter.__next__", 2, 8);
  t.launch("cudaLaunchKernel", 10, 2, {.ts = 20, .dur = 15});
  t.op("autograd::engine::evaluate_function: MmBackward0", 30, 10, 2);
  t.launch("cudaLaunchKernel", 32, 2, {.ts = 40, .dur = 5}, 2);
  t.event(Category::kUserAnnotation, "Optimizer.step#Adam.step", 50, 40);
  t.launch("cudaLaunchKernel", 60, 2, {.ts = 150, .dur = 5});  // runs in the next step
  t.launch("cudaGraphLaunch", 70, 2, {.ts = 160, .dur = 25});
  t.runtime("cudaDeviceSynchronize", 92, 2);
  t.runtime("cudaMalloc", 95, 2);
  t.event(Category::kUserAnnotation, "ProfilerStep#2", 100, 50);
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  std::vector<StepPhase> steps = step_phases_of(HostWork{facts});
  ASSERT_EQ(steps.size(), 2u);
  const StepPhase& first = steps[0];
  EXPECT_EQ(first.name, "ProfilerStep#1");
  EXPECT_EQ(first.wall_ns, 100'000);
  EXPECT_EQ(first.gpu_busy_ns, 50'000);
  EXPECT_EQ(first.gpu_idle_ns, 50'000);
  EXPECT_EQ(first.launches, 4);
  EXPECT_EQ(first.graph_launches, 1);
  EXPECT_EQ(first.kernels, 4);
  EXPECT_EQ(first.short_kernels, 2);
  EXPECT_EQ(first.syncs, 1);
  EXPECT_EQ(first.host_allocs, 1);
  EXPECT_EQ(first.dataloader_ns, 8'000);
  EXPECT_EQ(first.optimizer_host_ns, 40'000);
  EXPECT_EQ(first.optimizer_gpu_ns, 30'000);
  EXPECT_EQ(first.optimizer_kernels, 2);
  EXPECT_EQ(first.forward_gpu_ns, 15'000);
  EXPECT_EQ(first.backward_gpu_ns, 5'000);
  EXPECT_EQ(steps[1].kernels, 0);
  steps[0].path_ns.emplace()[static_cast<std::size_t>(BoundBy::kHostOp)] = 60'000;
  const Table table = step_phases(steps);
  EXPECT_DOUBLE_EQ(table.column("path_host_op_ms").reals()[0], 0.06);
  EXPECT_TRUE(table.column("path_host_op_ms").is_missing(1));
  EXPECT_EQ(column(table, "step"),
            (std::vector<std::string>{"ProfilerStep#1", "ProfilerStep#2", "mean", "median", "cv"}));
  EXPECT_DOUBLE_EQ(table.column("wall_ms").reals()[2], 0.075);
  EXPECT_DOUBLE_EQ(table.column("graph_coverage_pct").reals()[0], 50);
}

TEST(StepPhases, WithoutMarkedStepsTheWholeTraceIsOne) {
  TestTrace t;
  t.launch("cudaLaunchKernel", 0, 2, {.ts = 20, .dur = 15});
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  const std::vector<StepPhase> steps = step_phases_of(HostWork{facts});
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].name, "whole trace");
  EXPECT_EQ(steps[0].kernels, 1);
}

}  // namespace
}  // namespace tracelens
