#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <tracelens/column.hpp>
#include <utility>

namespace tracelens {
namespace {

TEST(Column, KeepsItsValuesWhileItGrows) {
  Column<std::int64_t> column;
  EXPECT_TRUE(column.empty());
  for (std::int64_t i = 0; i < 100'000; ++i) column.push_back(i);
  const std::span<const std::int64_t> all = column;
  ASSERT_EQ(all.size(), 100'000u);
  for (std::int64_t i = 0; i < 100'000; ++i) ASSERT_EQ(all[static_cast<std::size_t>(i)], i);
}

TEST(Column, RoomForOthersToWriteStandsBehindWhatIsThere) {
  Column<std::uint32_t> column;
  column.push_back(1);
  std::uint32_t* const room = column.add_unwritten(2);
  room[0] = 2;
  room[1] = 3;
  column.push_back(4);
  EXPECT_EQ(column.size(), 4u);
  EXPECT_EQ(column[2], 3u);
  EXPECT_EQ(column.back(), 4u);
}

TEST(Column, CopiesAndMovesLikeAVector) {
  Column<std::uint8_t> column;
  column.assign(3, 7);
  Column<std::uint8_t> copy = column;
  copy[0] = 1;
  EXPECT_EQ(column[0], 7);
  Column<std::uint8_t> moved = std::move(copy);
  EXPECT_EQ(moved.size(), 3u);
  EXPECT_EQ(moved[0], 1);
  moved = column;
  EXPECT_EQ(moved[0], 7);
  const Column<std::uint8_t> empty = Column<std::uint8_t>{};
  moved = empty;
  EXPECT_TRUE(moved.empty());
}

TEST(Column, GivesUpRoomThatIsNotUsed) {
  Column<std::int64_t> column;
  column.reserve(1000);
  column.shrink_to_fit();
  EXPECT_EQ(column.capacity(), 0u);
  column.push_back(5);
  column.shrink_to_fit();
  EXPECT_EQ(column.capacity(), 1u);
  EXPECT_EQ(column[0], 5);
}

}  // namespace
}  // namespace tracelens
