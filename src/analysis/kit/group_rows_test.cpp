#include "analysis/kit/group_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/kit/timed_groups.hpp"

namespace tracelens {
namespace {

using testing::ElementsAre;

TEST(RowGroups, NumbersGroupsByTheirFirstRows) {
  RowGroups groups;
  for (const std::uint32_t key : {7U, 3U, 7U, 7U, 3U}) groups.add({key, key + 1});
  groups.close();
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_THAT(groups.rows(0), ElementsAre(0, 2, 3));
  EXPECT_THAT(groups.rows(1), ElementsAre(1, 4));
}

TEST(KeyIndex, TellsManyKeysApart) {
  KeyIndex index;
  for (std::uint32_t i = 0; i < 1000; ++i) EXPECT_EQ(index.id_of({i % 10, i / 10}), i);
  for (std::uint32_t i = 0; i < 1000; ++i) EXPECT_EQ(index.id_of({i % 10, i / 10}), i);
  EXPECT_EQ(index.key(123).parts[0], 3U);
  EXPECT_EQ(index.key(123).parts[1], 12U);
}

TEST(Grouped, MakesARecordPerKeyInTheOrderOfTheFirst) {
  Grouped<std::pair<std::uint32_t, int>> counts;
  for (const std::uint32_t key : {5U, 2U, 5U})
    ++counts.at({key}, [key] { return std::pair{key, 0}; }).second;
  EXPECT_THAT(std::move(counts).take(), ElementsAre(std::pair{5U, 2}, std::pair{2U, 1}));
}

struct Row {
  std::uint32_t key, variant;
  std::int64_t ns;
};

TEST(TimedGroups, TheCostliestGroupComesFirstThenThePosition) {
  const Row rows[] = {{1, 0, 5}, {2, 0, 4}, {3, 0, 5}, {2, 0, 4}};
  TimedGroups groups;
  for (const Row& row : rows) groups.add({row.key});
  groups.close([&](std::uint32_t row) { return rows[row].ns; },
               [](std::uint32_t row) { return row; });
  EXPECT_THAT(groups.order(), ElementsAre(1, 0, 2));
  EXPECT_EQ(groups.first(1), 1U);
  EXPECT_EQ(groups.all_ns(), 18);
}

TEST(TimedGroups, VariantsStandTogetherByWhatTheyCostTogether) {
  const Row rows[] = {{1, 8, 7}, {2, 8, 4}, {2, 9, 5}, {1, 8, 1}};
  TimedGroups groups;
  for (const Row& row : rows) groups.add({row.key}, row.variant);
  groups.close([&](std::uint32_t row) { return rows[row].ns; },
               [](std::uint32_t row) { return row; });
  EXPECT_THAT(groups.order(), ElementsAre(2, 1, 0));  // key 2: 9 ns, its variants 5 and 4; key 1: 8
  EXPECT_THAT(groups.rows(0), ElementsAre(0, 3));
}

}  // namespace
}  // namespace tracelens
