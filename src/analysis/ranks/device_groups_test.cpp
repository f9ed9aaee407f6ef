#include "analysis/ranks/device_groups.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/ranks/test_ranks.hpp"

namespace tracelens {
namespace {

using enum CollectiveField;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(DeviceGroups, AreReadAsListsAndAsCountedArrays) {
  EXPECT_THAT(device_groups("{{0,1},{3,2}}"), ElementsAre(ElementsAre(0, 1), ElementsAre(3, 2)));
  EXPECT_THAT(device_groups("[2,2]<=[4]"), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  EXPECT_THAT(device_groups("[4]<=[4]"), ElementsAre(ElementsAre(0, 1, 2, 3)));
}

// Devices of a grid of 2 x 4: the groups are its columns, not neighbours.
TEST(DeviceGroups, AxesMayBeExchanged) {
  EXPECT_THAT(
      device_groups("[4,2]<=[2,4]T(1,0)"),
      ElementsAre(ElementsAre(0, 4), ElementsAre(1, 5), ElementsAre(2, 6), ElementsAre(3, 7)));
  EXPECT_THAT(
      device_groups("[4,2]<=[2,2,2]T(0,2,1)"),
      ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3), ElementsAre(4, 6), ElementsAre(5, 7)));
}

TEST(DeviceGroups, NonsenseGivesNone) {
  for (const char* text :
       {"", "{", "{{0,1}", "{{0,x}}", "[2,2]", "[2,2]<=[5]", "[2,2]<=[4]T(1)", "[0,2]<=[0]",
        "[2,2]<=[2,2]T(0,0)", "[4294967296,4294967296]<=[4294967296,4294967296]", "[-2,2]<=[-4]",
        "[2,2]<=[4]x"})
    EXPECT_THAT(device_groups(text), IsEmpty()) << text;
}

TEST(DeviceGroups, PairsThatMeetAreOneRing) {
  EXPECT_THAT(rings_of_pairs("{{0,2},{2,0},{1,3},{3,5},{5,1},{4,4}}"),
              ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3, 5), ElementsAre(4)));
  EXPECT_THAT(rings_of_pairs("{{0,1,2}}"), IsEmpty());
}

RankTrace rank_with(std::int64_t rank, const std::string& collective, const std::string& groups) {
  RankTrace trace = test_rank(rank, {{.name = collective, .elements = 16, .out_elements = 1}});
  trace.messages[0][kGroupRanks] = groups;
  trace.messages[0][kGroupName] = Value{};
  return trace;
}

TEST(ResolveDeviceGroups, GivesEveryRankItsOwnGroupAndWhatItReceives) {
  std::vector<RankTrace> ranks;
  ranks.push_back(rank_with(5, "all_gather", "replica_groups=[2,4]<=[8]"));
  ranks.push_back(rank_with(5, "reduce_scatter", "replica_groups=[2,4]<=[4,2]T(1,0)"));
  ranks.push_back(rank_with(5, "collective_permute", "source_target_pairs={{4,5},{5,4}}"));
  ranks.push_back(rank_with(5, "allreduce", "replica_groups="));
  ranks.push_back(rank_with(9, "allreduce", "replica_groups=[2,4]<=[8]"));
  resolve_device_groups(ranks, 8);
  const auto field = [&](std::size_t rank, CollectiveField which) {
    return ranks[rank].messages[0][which];
  };
  EXPECT_EQ(field(0, kGroupName), Value{"ranks 4-7"});
  EXPECT_EQ(field(0, kGroupRanks), Value{"[4, 5, 6, 7]"});
  EXPECT_EQ(field(0, kGroupSize), Value{4});
  EXPECT_EQ(field(0, kOutElements), Value{64});
  EXPECT_EQ(field(1, kGroupName), Value{"ranks 1-7 by 2"});
  EXPECT_EQ(field(1, kOutElements), Value{4});
  EXPECT_EQ(field(2, kGroupName), Value{"ranks 4-5"});
  EXPECT_EQ(field(3, kGroupName), Value{"ranks 0-7"});
  EXPECT_TRUE(field(4, kGroupName).is_null());  // no group has it
  EXPECT_TRUE(field(4, kGroupRanks).is_null());
}

}  // namespace
}  // namespace tracelens
