#include "readers/perfetto_slices.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tracelens::perfetto {
namespace {

constexpr std::uint32_t kTracks[] = {0, 1, 2};

std::vector<std::int64_t> durations(const SliceStack& slices) {
  std::vector<std::int64_t> durations;
  for (std::uint32_t i = 0; i < slices.size(); ++i) durations.push_back(slices.slice(i).dur_ns);
  return durations;
}

TEST(SliceStack, PairsInTimeOrderWhateverTheOrderOfTheFile) {
  SliceStack slices;
  slices.end(40, 0);
  slices.begin({.ts_ns = 30, .track = 0});
  slices.begin({.ts_ns = 10, .track = 0});
  slices.end(20, 0);
  EXPECT_EQ(slices.finish(kTracks), (std::vector<std::uint32_t>{1, 0}));
  EXPECT_EQ(durations(slices), (std::vector<std::int64_t>{10, 10}));
}

TEST(SliceStack, AnEndClosesTheTopmostOpenSliceOfItsTrack) {
  SliceStack slices;
  slices.begin({.ts_ns = 10, .track = 0});
  slices.begin({.ts_ns = 20, .track = 0});
  slices.begin({.ts_ns = 22, .track = 1});
  slices.end(30, 0);
  slices.end(45, 0);
  (void)slices.finish(kTracks);
  EXPECT_EQ(durations(slices), (std::vector<std::int64_t>{35, 10, Slice::kOpen}));
  EXPECT_EQ(slices.ends_without_begin(), 0U);
}

TEST(SliceStack, AnEndWithANameOrCategoryLooksForItsSlice) {
  SliceStack slices;
  slices.begin({.ts_ns = 10, .track = 0, .name = 1, .category = 7});
  slices.begin({.ts_ns = 20, .track = 0, .name = 2, .category = 8});
  slices.end(30, 0, 1);
  slices.end(40, 0, kNone, 8, 5);
  slices.end(50, 0, kNone, 9);
  (void)slices.finish(kTracks);
  EXPECT_EQ(durations(slices), (std::vector<std::int64_t>{20, 20}));
  EXPECT_EQ(slices.slice(1).end_args, 5U);
  EXPECT_EQ(slices.ends_without_begin(), 1U);
}

TEST(SliceStack, ACompleteSliceIsNotClosedAgain) {
  SliceStack slices;
  slices.begin({.ts_ns = 10, .track = 0});
  slices.begin({.ts_ns = 20, .dur_ns = 100, .track = 0});
  slices.begin({.ts_ns = 25, .dur_ns = 0, .track = 0});
  slices.end(30, 0);
  (void)slices.finish(kTracks);
  EXPECT_EQ(durations(slices), (std::vector<std::int64_t>{20, 100, 0}));
}

TEST(SliceStack, MergedTracksShareAStack) {
  SliceStack slices;
  slices.begin({.ts_ns = 10, .track = 0});
  slices.end(15, 1);
  constexpr std::uint32_t kMerged[] = {0, 0};
  (void)slices.finish(kMerged);
  EXPECT_EQ(durations(slices), std::vector<std::int64_t>{5});
}

TEST(SliceStack, AFlowLeadsFromSliceToSliceInTimeUntilItIsTerminated) {
  SliceStack slices;
  slices.begin({.ts_ns = 30, .dur_ns = 0, .track = 0});
  slices.add_flow(7, true);
  slices.begin({.ts_ns = 10, .dur_ns = 0, .track = 1});
  slices.add_flow(7, false);
  slices.begin({.ts_ns = 20, .dur_ns = 0, .track = 2});
  slices.add_flow(7, false);
  slices.add_flow(8, false);
  slices.begin({.ts_ns = 40, .dur_ns = 0, .track = 2});
  slices.add_flow(7, false);
  (void)slices.finish(kTracks);
  ASSERT_EQ(slices.flows().size(), 2U);
  EXPECT_EQ(slices.flows()[0].from, 1U);
  EXPECT_EQ(slices.flows()[0].to, 2U);
  EXPECT_EQ(slices.flows()[1].from, 2U);
  EXPECT_EQ(slices.flows()[1].to, 0U);
}

}  // namespace
}  // namespace tracelens::perfetto
