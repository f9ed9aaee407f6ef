#include "analysis/kit/open_steps.hpp"

#include <gtest/gtest.h>

namespace tracelens {
namespace {

TEST(OpenSteps, TheLastToBeginOfThoseThatAreOpen) {
  const OpenSteps open{std::vector<Interval>{{0, 100}, {10, 40}, {20, 30}, {90, 110}, {120, 120}}};
  EXPECT_EQ(open.at(-1), 5u);
  EXPECT_EQ(open.at(0), 0u);
  EXPECT_EQ(open.at(25), 2u);
  EXPECT_EQ(open.at(30), 1u);  // back to the one around it
  EXPECT_EQ(open.at(40), 0u);
  EXPECT_EQ(open.at(95), 3u);
  EXPECT_EQ(open.at(105), 3u);  // the first has ended meanwhile
  EXPECT_EQ(open.at(110), 5u);
  EXPECT_EQ(open.at(120), 5u);  // of no length: never open
}

TEST(OpenSteps, NoneOfNone) { EXPECT_EQ(OpenSteps{{}}.at(0), 0u); }

}  // namespace
}  // namespace tracelens
