#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <tracelens/column.hpp>
#include <utility>
#include <vector>

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

TEST(Column, KeepsItsValuesOnItsWayToPagesOfItsOwnAndBack) {
  Column<std::int64_t> column;
  const auto expect_counted = [&column](std::int64_t size) {
    ASSERT_EQ(column.size(), static_cast<std::size_t>(size));
    for (std::int64_t i = 0; i < size; ++i) ASSERT_EQ(column[static_cast<std::size_t>(i)], i);
  };
  for (std::int64_t i = 0; i < 10; ++i) column.push_back(i);
  column.reserve(1 << 21);
  expect_counted(10);
  column.reserve(1 << 23);
  expect_counted(10);
  column.shrink_to_fit();
  EXPECT_EQ(column.capacity(), 10u);
  expect_counted(10);
  for (std::int64_t i = 10; i < 1 << 20; ++i) column.push_back(i);
  column.shrink_to_fit();
  expect_counted(1 << 20);
}

TEST(Column, RoomThatIsNotUsedTakesNoMemory) {
  Column<char> column;
  column.reserve(std::size_t{12} << 20);
  column.push_back('x');
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> resident((column.capacity() + page - 1) / page);
  ASSERT_EQ(::mincore(column.data(), column.capacity(), resident.data()), 0);
  const auto used =
      std::ranges::count_if(resident, [](unsigned char one) { return (one & 1) != 0; });
  EXPECT_GE(used, 1);
  EXPECT_LE(static_cast<std::size_t>(used), resident.size() / 2);  // one page, or a huge one
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

TEST(Column, IsTrimmedUnlessMuchWouldBeCopied) {
  constexpr std::int64_t kRoom = 1 << 20;  // 8 MB, which have pages of their own
  const auto capacity_of = [](std::int64_t room, std::int64_t size) {
    Column<std::int64_t> column;
    column.reserve(static_cast<std::size_t>(room));
    for (std::int64_t i = 0; i < size; ++i) column.push_back(i);
    column.trim();
    for (std::int64_t i = 0; i < size; ++i) EXPECT_EQ(column[static_cast<std::size_t>(i)], i);
    return static_cast<std::int64_t>(column.capacity());
  };
  EXPECT_EQ(capacity_of(2000, 1000), 1000);
  EXPECT_EQ(capacity_of(kRoom, kRoom / 2), kRoom / 2);
  EXPECT_EQ(capacity_of(kRoom, kRoom / 4), kRoom);  // they would have to go to the heap
  EXPECT_EQ(capacity_of(kRoom, 10), 10);
  EXPECT_EQ(capacity_of(kRoom, 0), 0);
}

}  // namespace
}  // namespace tracelens
