#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnosis/kit/test_run.hpp"

namespace tracelens {

extern const Rule kHost1;

namespace {

Trace steps_of(int ops, double gpu_us) {
  TestTrace t;
  double start = 0;
  for (int step = 0; step < 3; ++step) {
    const double end = add_ops(t, start, ops, gpu_us);
    add_step(t, step, start, end);
    start = end;
  }
  return t.finish();
}

TEST(Host1, KernelsShorterThanTheirLaunches) {
  TestRun run{steps_of(50, 1)};
  const auto draft = run.find(kHost1);
  ASSERT_TRUE(draft);
  EXPECT_THAT(draft->verdict, testing::HasSubstr("idles"));
  EXPECT_GT(run.saving_percent(*draft), 50);
}

TEST(Host1, NotWhenTheGpuIsBusyOrLittleIsLaunched) {
  TestRun busy{steps_of(50, 30)};
  EXPECT_FALSE(busy.find(kHost1));
  TestRun few{steps_of(5, 1)};
  EXPECT_FALSE(few.find(kHost1));
}

}  // namespace
}  // namespace tracelens
