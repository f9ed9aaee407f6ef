#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tracelens/table_text.hpp>

namespace tracelens {
namespace {

using ::testing::ElementsAre;

TEST(DistinctNames, WhatRepeatsIsNumbered) {
  EXPECT_THAT(distinct_names({"name", "ts", "name", "name"}),
              ElementsAre("name", "ts", "name_2", "name_3"));
  EXPECT_THAT(distinct_names({"name", "name_2", "name"}), ElementsAre("name", "name_2", "name_3"));
}

}  // namespace
}  // namespace tracelens
