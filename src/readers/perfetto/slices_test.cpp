#include "readers/perfetto/slices.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tracelens::perfetto {
namespace {

class OpenSlicesTest : public testing::Test {
 protected:
  std::uint32_t begin(Mark mark) {
    begun_.push_back(slices_.begin(mark));
    return begun_.back();
  }
  void end(Mark mark) {
    mark.is_end = true;
    slices_.end(mark);  // held by this test from here on: slices_ does not use its place again
  }
  // Of all slices, in the order of their begins.
  std::vector<std::int64_t> durations() {
    std::vector<std::int64_t> durations;
    for (const std::uint32_t id : begun_) durations.push_back(slices_[id].dur_ns);
    return durations;
  }

  OpenSlices slices_{{0, 1, 1}};  // the last two share a stack
  std::vector<std::uint32_t> begun_;
};

TEST_F(OpenSlicesTest, AnEndClosesTheTopmostOpenSliceOfItsTrack) {
  begin({.ts_ns = 10, .track = 0});
  begin({.ts_ns = 20, .track = 0});
  begin({.ts_ns = 22, .track = 1});
  end({.ts_ns = 30, .track = 0});
  end({.ts_ns = 45, .track = 0});
  EXPECT_EQ(durations(), (std::vector<std::int64_t>{35, 10, Slice::kOpen}));
  EXPECT_EQ(slices_.ends_without_begin(), 0U);
  std::size_t open = 0;
  slices_.for_each_open([&](const Slice& slice) {
    ++open;
    EXPECT_EQ(slice.ts_ns, 22);
  });
  EXPECT_EQ(open, 1U);
}

TEST_F(OpenSlicesTest, AnEndWithANameOrCategoryLooksForItsSlice) {
  begin({.ts_ns = 10, .track = 0, .name = 1, .category = 7});
  begin({.ts_ns = 20, .track = 0, .name = 2, .category = 8});
  end({.ts_ns = 30, .track = 0, .name = 1});
  end({.ts_ns = 40, .track = 0, .category = 8, .end_args = 5});
  end({.ts_ns = 50, .track = 0, .category = 9});
  EXPECT_EQ(durations(), (std::vector<std::int64_t>{20, 20}));
  EXPECT_EQ(slices_[begun_[1]].end_args, 5U);
  EXPECT_EQ(slices_.ends_without_begin(), 1U);
}

TEST_F(OpenSlicesTest, ACompleteSliceIsNotClosedAgain) {
  begin({.ts_ns = 10, .track = 0});
  begin({.ts_ns = 20, .track = 0, .dur_ns = 100});
  begin({.ts_ns = 25, .track = 0, .dur_ns = 0});
  end({.ts_ns = 30, .track = 0});
  EXPECT_EQ(durations(), (std::vector<std::int64_t>{20, 100, 0}));
}

TEST_F(OpenSlicesTest, MergedTracksShareAStack) {
  begin({.ts_ns = 10, .track = 1});
  end({.ts_ns = 15, .track = 2});
  EXPECT_EQ(durations(), std::vector<std::int64_t>{5});
}

TEST(OpenSlices, NeedsRoomForTheSlicesThatAreOpenAtOnce) {
  OpenSlices slices{{0}};
  for (std::int64_t i = 0; i < 1000; ++i) {
    for (const std::int64_t depth : {0, 1, 2})
      slices.release(slices.begin({.ts_ns = 10 * i + depth}));
    for (const std::int64_t depth : {5, 6, 7}) {
      const auto closed = slices.end({.ts_ns = 10 * i + depth, .is_end = true});
      ASSERT_TRUE(closed);
      slices.release(*closed);
    }
  }
  EXPECT_LE(slices.capacity(), 4U);
}

}  // namespace
}  // namespace tracelens::perfetto
