#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnosis/kit/test_run.hpp"

namespace tracelens {

extern const Rule kOpt1;

namespace {

// Three steps of 100 ops and an optimizer of so many.
Trace run_with_optimizer(int ops, std::string_view name) {
  TestTrace t;
  double start = 0;
  for (int step = 0; step < 3; ++step) {
    const double forward = add_ops(t, start, 100, 1), end = add_ops(t, forward, ops, 1, name);
    t.event(Category::kUserAnnotation, "Optimizer.step#AdamW.step", forward, end - forward);
    add_step(t, step, start, end);
    start = end;
  }
  return t.finish();
}

TEST(Opt1, ALoopOverTensorsIsFound) {
  TestRun run{run_with_optimizer(200, "aten::mul_")};
  const auto draft = run.find(kOpt1);
  ASSERT_TRUE(draft);
  EXPECT_NEAR(run.saving_percent(*draft), 60, 10);
  EXPECT_EQ(draft->evidence.front().value, 200);
}

TEST(Opt1, AFusedOptimizerAndAShortOneAreNot) {
  TestRun fused{run_with_optimizer(200, "aten::_fused_adamw_")};
  EXPECT_FALSE(fused.find(kOpt1));
  TestRun small{run_with_optimizer(20, "aten::mul_")};
  EXPECT_FALSE(small.find(kOpt1));
}

}  // namespace
}  // namespace tracelens
