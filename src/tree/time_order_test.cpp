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

}  // namespace
}  // namespace tracelens
