#include "analysis/memory/raw_timeline.hpp"

#include <gtest/gtest.h>

#include <tracelens/error.hpp>

#include "analysis/memory/tables.hpp"

namespace tracelens {
namespace {

TEST(RawTimeline, ANewVersionMovesBytesFromOneCategoryToAnother) {
  const RawTimeline timeline = parse_raw_timeline("x", R"([[-1, 1, 100, 0], [50, 2, 30, 7],
      [60, 3, -30, 7], [60, 3, 30, 4], [70, 2, 20, 3], [80, 4, -20, 3], [90, 4, -30, 4]])");
  EXPECT_EQ(timeline.initial, 100);
  EXPECT_EQ(timeline.peak_allocated, 150);
  EXPECT_EQ(timeline.peak_ts_ns, 70);
  EXPECT_EQ(timeline.at_peak[0], 100);  // parameter
  EXPECT_EQ(timeline.at_peak[4], 30);   // activation
  EXPECT_EQ(timeline.at_peak[7], 0);
  EXPECT_EQ(timeline.allocs, 2);
  EXPECT_EQ(timeline.frees, 2);
  const auto tables = raw_memory_tables(timeline);
  ASSERT_EQ(tables.size(), 3u);
  EXPECT_EQ(tables[1].column("category").texts()[0], "parameter");
  EXPECT_EQ(tables[2].rows(), 7u);
}

TEST(RawTimeline, AnotherFileIsToldApart) {
  for (const char* const text : {"{}", "[1]", "[[1,2,3]]", "[[1,9,3,0]]", "[[1,2,3,99]]", "[[1,2,"})
    EXPECT_THROW((void)parse_raw_timeline("x", text), Error) << text;
  EXPECT_EQ(parse_raw_timeline("x", "[]").peak_allocated, 0);
}

}  // namespace
}  // namespace tracelens
