#include "readers/chrome/json_merge.hpp"

#include <gtest/gtest.h>

namespace tracelens::json {
namespace {

TEST(MergedObjects, HaveTheMembersOfBothByNameAndTheNewerOfEqualOnes) {
  EXPECT_EQ(merged_objects(R"({"b":[1,{"x":2}],"c":"old"})", R"({"a":"}","c":"new"})"),
            R"({"a":"}","b":[1,{"x":2}],"c":"new"})");
}

TEST(MergedObjects, AreTheNewerOneWhenThereIsNoOlder) {
  EXPECT_EQ(merged_objects("", R"({"a":1})"), R"({"a":1})");
}

}  // namespace
}  // namespace tracelens::json
