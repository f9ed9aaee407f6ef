#include "tree/numbered_set.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tracelens {
namespace {

TEST(NumberedSet, NumbersItsRowsInTheirOrder) {
  const std::vector<std::uint32_t> rows{0, 1, 63, 64, 127, 200, 255, 256};
  NumberedSet set{257};
  for (std::size_t i = rows.size(); i-- > 0;) set.add(rows[i]);  // in any order
  set.add(200);                                                  // twice is once
  set.number();
  ASSERT_EQ(set.size(), rows.size());
  std::vector<std::uint32_t> seen;
  set.for_each([&](std::uint32_t row) { seen.push_back(row); });
  EXPECT_EQ(seen, rows);
  for (std::uint32_t i = 0; i < rows.size(); ++i) EXPECT_EQ(set.number_of(rows[i]), i);
  std::size_t contained = 0;
  for (std::uint32_t row = 0; row < 257; ++row) contained += set.contains(row) ? 1 : 0;
  EXPECT_EQ(contained, rows.size());
}

TEST(NumberedSet, MayBeEmpty) {
  NumberedSet none{0}, empty{65};
  none.number();
  empty.number();
  EXPECT_EQ(none.size(), 0U);
  EXPECT_EQ(empty.size(), 0U);
  EXPECT_FALSE(empty.contains(64));
  empty.for_each([](std::uint32_t) { FAIL(); });
}

}  // namespace
}  // namespace tracelens
