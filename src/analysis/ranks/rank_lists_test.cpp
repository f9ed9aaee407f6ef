#include "analysis/ranks/rank_lists.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracelens {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(RankList, ListsAndTheirTextsAreTheSame) {
  EXPECT_THAT(rank_list(Value::tuple({0, 4}), 2), ElementsAre(0, 4));
  EXPECT_THAT(rank_list("[0, 4]", 2), ElementsAre(0, 4));
  EXPECT_THAT(rank_list(" (0, 4,) ", 2), ElementsAre(0, 4));
  EXPECT_THAT(rank_list("[]", 0), IsEmpty());
}

TEST(RankList, TextThatIsNoListGivesTheNumbersInIt) {
  EXPECT_THAT(rank_list("0-1", 2), ElementsAre(0, 1));
  EXPECT_THAT(rank_list("[0, 1", 2), ElementsAre(0, 1));
  EXPECT_THAT(rank_list("", 2), IsEmpty());
}

TEST(RankList, OtherLiteralsHoldNoRanks) {
  EXPECT_THAT(rank_list("3", 1), IsEmpty());
  EXPECT_THAT(rank_list("{0, 1}", 2), IsEmpty());
  EXPECT_THAT(rank_list(7, 1), IsEmpty());
  EXPECT_THAT(rank_list({}, 1), IsEmpty());
}

TEST(RankList, ACutListIsFilledUpWhenTheSizeConfirmsItsSteps) {
  EXPECT_THAT(rank_list("[0, 8, ..., 56]", 8), ElementsAre(0, 8, 16, 24, 32, 40, 48, 56));
  EXPECT_THAT(rank_list("[0, 1, 2, ...]", 64), SizeIs(64));
  EXPECT_THAT(rank_list("[0, 8, ..., 57]", 8), IsEmpty());
  EXPECT_THAT(rank_list("[0, 8, ..., 56]", {}), IsEmpty());
  EXPECT_THAT(rank_list("[0, 1, 3, ...]", 64), IsEmpty());
  EXPECT_THAT(rank_list("[0, 1, ...]", std::int64_t{1} << 40), IsEmpty());
}

TEST(SplitSizes, OnlyWholeListsCount) {
  EXPECT_THAT(split_sizes("[4, 5]").value(), ElementsAre(4, 5));
  EXPECT_THAT(split_sizes(Value::tuple({4, 5})).value(), ElementsAre(4, 5));
  EXPECT_THAT(split_sizes(" [ 4 , 5 ] ").value(), ElementsAre(4, 5));
  EXPECT_THAT(split_sizes("[]").value(), IsEmpty());
  for (const char* text : {"not-a-list", "{bad", "[1, 2,", "(512, 512)", "[1, ..., 3]", ""})
    EXPECT_FALSE(split_sizes(text)) << text;
  EXPECT_FALSE(split_sizes({}));
}

}  // namespace
}  // namespace tracelens
