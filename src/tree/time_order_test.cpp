#include "tree/time_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace tracelens {
namespace {

TEST(TimeOrder, AnyOrderBecomesTimeThenFileOrder) {
  std::mt19937 random{7};
  std::vector<std::uint32_t> scratch;
  for (std::uint32_t size = 0; size < 200; ++size) {
    std::vector<std::int64_t> ts(size);
    std::vector<std::uint32_t> rows(size);
    for (std::uint32_t i = 0; i < size; ++i) {
      ts[i] = static_cast<std::int64_t>(random() % 50);
      rows[i] = i;
    }
    std::shuffle(rows.begin(), rows.end(), random);
    sort_by_time(rows, ts, scratch);
    for (std::size_t i = 1; i < size; ++i) {
      ASSERT_LE(ts[rows[i - 1]], ts[rows[i]]);
      if (ts[rows[i - 1]] == ts[rows[i]]) {
        ASSERT_LT(rows[i - 1], rows[i]);
      }
    }
    std::ranges::sort(rows);
    for (std::uint32_t i = 0; i < size; ++i) ASSERT_EQ(rows[i], i);  // nothing lost
  }
}

// Long lists in order one after the other, some of the same time, or in no order at all.
TEST(TimeOrder, SeveralThreadsGiveTheSameOrder) {
  std::mt19937 random{11};
  constexpr std::uint32_t kSize = 700'000;
  for (const std::uint32_t lists : {1u, 2u, 3u, 7u, 100u, kSize}) {
    std::vector<std::int64_t> ts(kSize);
    std::vector<std::uint32_t> rows(kSize);
    for (std::uint32_t i = 0; i < kSize; ++i) {
      ts[i] = lists == kSize ? random() % 1000 : (i % (kSize / lists + 1)) / 3;
      rows[i] = i;
    }
    std::vector<std::uint32_t> scratch, by_one = rows, by_many = rows;
    sort_by_time(by_one, ts, scratch);
    sort_by_time(by_many, ts, scratch, 8);
    EXPECT_EQ(by_many, by_one);
    std::ranges::stable_sort(rows, {}, [&](std::uint32_t row) { return ts[row]; });
    EXPECT_EQ(by_one, rows);
  }
}

}  // namespace
}  // namespace tracelens
