#include "facts/host_ranges.hpp"

#include <gtest/gtest.h>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

constexpr auto kAnnotation = Category::kUserAnnotation;

TEST(HostRanges, AnnotationsNameThem) {
  TestTrace t;
  const EventId step = t.event(kAnnotation, "Optimizer.step#AdamW.step", 50, 10);
  const EventId zero = t.event(kAnnotation, "Optimizer.zero_grad#AdamW.zero_grad", 70, 5);
  const EventId fetch =
      t.event(kAnnotation, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 10, 20);
  t.python("site-packages/torch/utils/data/dataloader.py(732): __next__", 9, 25);
  const Trace trace = t.finish();
  const HostRanges ranges{trace};
  ASSERT_EQ(ranges.data_loading().size(), 1u);
  EXPECT_EQ(ranges.data_loading()[0].event, fetch);
  EXPECT_EQ(ranges.data_loading()[0].end_ns, 30000);
  EXPECT_TRUE(ranges.loads_in_main_process());
  EXPECT_FALSE(ranges.loads_in_workers());
  ASSERT_EQ(ranges.optimizer().size(), 1u);
  EXPECT_EQ(ranges.optimizer()[0].event, step);
  ASSERT_EQ(ranges.zero_grad().size(), 1u);
  EXPECT_EQ(ranges.zero_grad()[0].event, zero);
}

TEST(HostRanges, WithoutAnnotationsTheLoadersFrameCounts) {
  TestTrace t;
  const EventId fetch =
      t.python("site-packages/torch/utils/data/dataloader.py(732): __next__", 10, 20);
  t.python("torch/utils/data/dataloader.py(732): __next__ again", 0, 1);
  t.python("torch/utils/data/dataloader.py(): __next__", 0, 1);
  t.python("my/dataloader.py(7): __next__", 0, 1);
  const Trace trace = t.finish();
  const HostRanges ranges{trace};
  ASSERT_EQ(ranges.data_loading().size(), 1u);
  EXPECT_EQ(ranges.data_loading()[0].event, fetch);
  EXPECT_FALSE(ranges.loads_in_main_process());
}

TEST(HostRanges, LoadersWithWorkersSaySo) {
  TestTrace t;
  t.event(kAnnotation, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 0, 1);
  const Trace trace = t.finish();
  EXPECT_TRUE(HostRanges{trace}.loads_in_workers());
  EXPECT_FALSE(HostRanges{trace}.loads_in_main_process());
}

TEST(HostRanges, ATimeIsInARangeOfItsThreadOnly) {
  TestTrace t;
  t.event(kAnnotation, "Optimizer.step#outer", 10, 30, 1);
  t.event(kAnnotation, "Optimizer.step#inner", 12, 3, 1);
  t.event(kAnnotation, "Optimizer.step#other", 100, 5, 2);
  const Trace trace = t.finish();
  const HostRanges ranges{trace};
  const TrackId first = trace.tracks()[0], second = trace.tracks()[2];
  EXPECT_TRUE(in_ranges(ranges.optimizer(), first, 10000));
  EXPECT_TRUE(in_ranges(ranges.optimizer(), first, 39999));  // after the inner one
  EXPECT_FALSE(in_ranges(ranges.optimizer(), first, 40000));
  EXPECT_FALSE(in_ranges(ranges.optimizer(), first, 102000));
  EXPECT_TRUE(in_ranges(ranges.optimizer(), second, 102000));
  EXPECT_FALSE(in_ranges({}, first, 10000));
}

}  // namespace
}  // namespace tracelens
