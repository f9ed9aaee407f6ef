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

// In each of four steps the host loads a batch; then 50 ops, most of them host time, launch a short
// kernel each.
Trace steps_with_loading(double loading_us) {
  TestTrace t;
  double at = 0;
  for (int step = 0; step < 4; ++step) {
    const double start = at;
    t.event(Category::kUserAnnotation,
            "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at, loading_us);
    at += loading_us;
    for (int i = 0; i < 50; ++i, at += 30) {
      t.op("aten::mul", at, 30);
      t.launch("cudaLaunchKernel", at + 20, 2, {.ts = at + 23, .dur = 1});
    }
    add_step(t, step, start, at);
  }
  return t.finish();
}

TEST(Host1, TellsTheHostsShareOfTheIdleTime) {
  TestRun mostly{steps_with_loading(10)};
  const auto most = mostly.find(kHost1);
  ASSERT_TRUE(most);
  EXPECT_THAT(most->verdict, testing::HasSubstr("most of it in the framework's ops"));
  TestRun partly{steps_with_loading(1725)};
  const auto part = partly.find(kHost1);
  ASSERT_TRUE(part);
  EXPECT_THAT(part->verdict, testing::HasSubstr("the largest part in the framework's ops"));
  EXPECT_EQ(part->evidence[1].column, "percent_of_idle of what prepares launches");
  EXPECT_GE(part->evidence[1].value, 50);
  EXPECT_LT(part->evidence[1].value, 60);
}

TEST(Host1, NotWhenTheGpuIsBusyOrLittleIsLaunched) {
  TestRun busy{steps_of(50, 30)};
  EXPECT_FALSE(busy.find(kHost1));
  TestRun few{steps_of(5, 1)};
  EXPECT_FALSE(few.find(kHost1));
}

}  // namespace
}  // namespace tracelens
