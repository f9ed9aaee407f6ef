#include "analysis/ops/step_tables.hpp"

#include <gtest/gtest.h>

#include "analysis/kit/test_ops.hpp"

namespace tracelens {
namespace {

using Texts = std::vector<std::string>;

class StepTables : public testing::Test {
 protected:
  StepTables() {
    TestTrace t;
    t.event(Category::kUserAnnotation, "ProfilerStep#1", 0, 100);
    t.event(Category::kUserAnnotation, "ProfilerStep#2", 100, 100);
    t.op("aten::mm", 10, 10);
    t.launch("cudaLaunchKernel", 12, 1, {.name = "gemm", .ts = 20, .dur = 10});
    // Launched in the first step, runs in the second.
    t.op("aten::mm", 90, 5);
    t.launch("cudaLaunchKernel", 92, 1, {.name = "gemm", .ts = 110, .dur = 10});
    t.op("aten::mm", 130, 10);
    t.launch("cudaLaunchKernel", 132, 1, {.name = "gemm", .ts = 140, .dur = 30});
    // After the last step: in no row.
    t.op("aten::mm", 230, 10);
    t.launch("cudaLaunchKernel", 232, 1, {.name = "gemm", .ts = 240, .dur = 1});
    trace_ = t.finish();
    facts_.emplace(trace_);
  }
  Trace trace_;
  std::optional<TraceFacts> facts_;
};

TEST_F(StepTables, WorkBelongsToTheStepThatLaunchedIt) {
  const Table table = gpu_timeline_by_step(*facts_, facts_->steps());
  EXPECT_EQ(column(table, "step"), (Texts{"ProfilerStep#1", "ProfilerStep#2"}));
  EXPECT_EQ(column(table, "GPU events"), (Texts{"2", "1"}));
  EXPECT_EQ(column(table, "GPU time ms"), (Texts{"0.1", "0.03"}));
  EXPECT_EQ(column(table, "computation ms"), (Texts{"0.02", "0.03"}));
  EXPECT_EQ(column(table, "idle ms"), (Texts{"0.08", "0.0"}));
}

TEST(StepTablesOfUnlinkedWork, ItBelongsToTheStepInWhichItRuns) {
  TestTrace t;
  t.event(Category::kUserAnnotation, "ProfilerStep#1", 0, 100);
  t.op("aten::mm", 10, 10);
  t.launch("cudaLaunchKernel", 12, 1, {.name = "gemm", .ts = 20, .dur = 10});
  t.gpu({.name = "stray", .ts = 50, .dur = 10}, 4711);
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  EXPECT_EQ(cell(gpu_timeline_by_step(facts, facts.steps()), "GPU events", 0), "1");
  const Table all = gpu_timeline_by_step(facts, facts.steps(), true);
  EXPECT_EQ(cell(all, "GPU events", 0), "2");
  EXPECT_EQ(cell(all, "computation ms", 0), "0.02");
}

TEST_F(StepTables, AnOpNamesTheStepInWhichItTookLongest) {
  OpInput input{*facts_, {}};
  const Table table = ops_by_step(input, facts_->steps());
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_EQ(cell(table, "mean µs", 0), "25.0");
  EXPECT_EQ(cell(table, "min µs", 0), "20.0");
  EXPECT_EQ(cell(table, "max µs", 0), "30.0");
  EXPECT_EQ(cell(table, "slowest step", 0), "ProfilerStep#2");
  EXPECT_EQ(cell(table, "calls per step", 0), "1.5");
}

}  // namespace
}  // namespace tracelens
