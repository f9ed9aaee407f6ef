#include <tracelens/intervals.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bitset>
#include <random>
#include <vector>

namespace tracelens {
namespace {

using ::testing::ElementsAre;
using List = std::vector<Interval>;

TEST(Intervals, TouchingOnesJoinAndLoneEmptyOnesStay) {
  EXPECT_THAT(merge({{10, 20}, {0, 5}, {5, 7}, {8, 8}, {15, 16}}),
              ElementsAre(Interval{0, 7}, Interval{8, 8}, Interval{10, 20}));
  EXPECT_TRUE(merge({}).empty());
}

struct SubtractCase {
  List from, taken, left;
};

TEST(Intervals, SubtractingLeavesWhatIsNotTaken) {
  const SubtractCase cases[] = {
      {{{10, 20}}, {}, {{10, 20}}},
      {{{10, 20}}, {{15, 16}}, {{10, 15}, {16, 20}}},
      {{{10, 20}}, {{15, 16}, {17, 18}}, {{10, 15}, {16, 17}, {18, 20}}},
      {{{10, 20}}, {{15, 16}, {16, 18}}, {{10, 15}, {18, 20}}},
      {{{10, 20}}, {{9, 12}}, {{12, 20}}},
      {{{10, 20}}, {{15, 22}}, {{10, 15}}},
      {{{10, 20}}, {{15, 17}, {16, 18}}, {{10, 15}, {18, 20}}},
      {{{10, 20}}, {{10, 20}}, {}},
      {{{10, 20}}, {{0, 30}}, {}},
      {{{10, 20}, {30, 40}}, {{15, 35}}, {{10, 15}, {35, 40}}},
      {{}, {{0, 1}}, {}},
      {{{10, 20}}, {{15, 15}}, {{10, 15}, {15, 20}}},  // an empty one parts it
  };
  for (const SubtractCase& c : cases) EXPECT_EQ(subtract(c.from, c.taken), c.left);
}

TEST(Intervals, GapsLieBetweenNeighbours) {
  EXPECT_THAT(gaps_between(List{{0, 5}, {8, 9}, {20, 30}}),
              ElementsAre(Interval{5, 8}, Interval{9, 20}));
  EXPECT_TRUE(gaps_between(List{{0, 5}}).empty());
}

// Every nanosecond as one bit: nothing to get wrong.
constexpr std::size_t kTimes = 100;
std::bitset<kTimes> bits(const List& intervals) {
  std::bitset<kTimes> set;
  for (const Interval& interval : intervals)
    for (std::int64_t t = interval.start; t < interval.end; ++t)
      set.set(static_cast<std::size_t>(t));
  return set;
}

TEST(Intervals, RandomSetsMatchOneBitPerNanosecond) {
  std::mt19937 random{11};
  const auto some = [&] {
    List list(random() % 12);
    for (Interval& interval : list) {
      interval.start = static_cast<std::int64_t>(random() % (kTimes - 20));
      interval.end = interval.start + static_cast<std::int64_t>(random() % 20);
    }
    return list;
  };
  for (int round = 0; round < 2000; ++round) {
    const List a = some(), b = some();
    const List merged_a = merge(a), merged_b = merge(b);
    ASSERT_EQ(bits(merged_a), bits(a));
    ASSERT_EQ(length(merged_a), static_cast<std::int64_t>(bits(a).count()));
    for (std::size_t i = 1; i < merged_a.size(); ++i)
      ASSERT_GT(merged_a[i].start, merged_a[i - 1].end);
    const List left = subtract(merged_a, merged_b);
    ASSERT_EQ(bits(left), bits(a) & ~bits(b));
    ASSERT_EQ(length(left), static_cast<std::int64_t>((bits(a) & ~bits(b)).count()));
  }
}

}  // namespace
}  // namespace tracelens
