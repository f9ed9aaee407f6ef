#include "tree/id_ranges.hpp"

#include <gtest/gtest.h>

namespace tracelens {
namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min(),
                       kHighest = std::numeric_limits<std::int64_t>::max();

TEST(IdRanges, EveryIdIsInOneOfThem) {
  const std::vector<IdRange> of_ids = {
      {1, 100},          {5, 5}, {-3, 4},      {kLowest, kHighest},
      {0, kHighest},     {7, 9}, {kLowest, 0}, {kHighest - 1, kHighest},
      {kLowest, kLowest}};
  for (const IdRange ids : of_ids)
    for (const int most : {1, 2, 3, 16}) {
      const std::vector<IdRange> ranges = divide_ids(ids, most);
      EXPECT_LE(ranges.size(), static_cast<std::size_t>(most));
      EXPECT_EQ(ranges.front().first, kLowest);
      EXPECT_EQ(ranges.back().last, kHighest);
      for (std::size_t i = 1; i < ranges.size(); ++i) {
        EXPECT_EQ(ranges[i].first, ranges[i - 1].last + 1);
        EXPECT_TRUE(ids.contains(ranges[i].first)) << ids.first << " to " << ids.last;
      }
    }
  EXPECT_EQ(divide_ids({1, 160}, 16).size(), 16u);
  EXPECT_EQ(divide_ids({kLowest, kHighest}, 16).size(), 16u);
  EXPECT_EQ(divide_ids({}, 16).size(), 1u);
}

TEST(IdRanges, PiecesWithoutIdsOfARangeArePassedOver) {
  const std::size_t items = 3 * io::Ranges::kRangeSize;
  const IdsOfPieces pieces{
      4, items, [](std::size_t i, IdsOfPiece& ids) { ids.add(static_cast<std::int64_t>(i) * 10); }};
  EXPECT_EQ(pieces.size(), 3u);
  EXPECT_EQ(pieces.looks(divide_ids(pieces.all(), 3)), 3u);
  EXPECT_EQ(pieces.looks(divide_ids(pieces.all(), 2)), 4u);  // both look at the piece in the middle
  EXPECT_EQ(pieces.all().last, static_cast<std::int64_t>(items - 1) * 10);
  std::vector<std::size_t> seen, seen_from_behind;
  const IdRange last{static_cast<std::int64_t>(items - 1) * 10, kHighest};
  pieces.for_each(last, [&](std::size_t i) { seen.push_back(i); });
  pieces.for_each_reversed(last, [&](std::size_t i) { seen_from_behind.push_back(i); });
  ASSERT_EQ(seen.size(), io::Ranges::kRangeSize);
  EXPECT_EQ(seen.front(), 2 * io::Ranges::kRangeSize);
  EXPECT_EQ(seen.back(), items - 1);
  EXPECT_TRUE(
      std::ranges::equal(seen, std::vector(seen_from_behind.rbegin(), seen_from_behind.rend())));
}

TEST(IdRanges, WhoHasTheLowestIdsAlsoLooksAtItemsWithoutOne) {
  IdsOfPiece piece;
  piece.add(50);
  piece.add(kAbsent);
  EXPECT_TRUE(piece.may_be_in({kLowest, 10}));
  EXPECT_FALSE(piece.may_be_in({11, 49}));
  EXPECT_TRUE(piece.may_be_in({50, 60}));
  EXPECT_EQ(piece.ids().first, 50);
}

}  // namespace
}  // namespace tracelens
