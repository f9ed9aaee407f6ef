#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnosis/kit/test_run.hpp"

namespace tracelens {

extern const Rule kData1;

namespace {

using ::testing::HasSubstr;

// Three steps: a batch is fetched, then 30 ops run.
Trace run_with_loading(double loading_us) {
  TestTrace t;
  double start = 0;
  for (int step = 0; step < 3; ++step) {
    t.event(Category::kUserAnnotation,
            "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", start, loading_us);
    const double end = add_ops(t, start + loading_us, 30, 5);
    add_step(t, step, start, end);
    start = end;
  }
  return t.finish();
}

TEST(Data1, FetchingABatchIsWhatTheRunWaitsFor) {
  TestRun run{run_with_loading(700)};
  const auto draft = run.find(kData1);
  ASSERT_TRUE(draft);
  EXPECT_NEAR(run.saving_percent(*draft), 70, 10);
  EXPECT_THAT(draft->verdict, HasSubstr("in the process that trains"));
  EXPECT_EQ(draft->where.front().count, 3);
}

TEST(Data1, AShortWaitIsNoFinding) {
  TestRun run{run_with_loading(5)};
  EXPECT_FALSE(run.find(kData1));
}

}  // namespace
}  // namespace tracelens
