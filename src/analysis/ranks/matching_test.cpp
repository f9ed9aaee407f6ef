#include "analysis/ranks/matching.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/ranks/test_ranks.hpp"

namespace tracelens {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

// "0_1: 0 1": the collective's id and the ranks that take part.
std::vector<std::string> matched(const std::vector<RankTrace>& ranks) {
  const Matching matching = match_collectives(ranks);
  std::vector<std::string> lines;
  for (const Collective& collective : matching.collectives) {
    lines.push_back(matching.id(collective) + ":");
    for (const CollectiveMember& member : matching.members(collective))
      lines.back() += " " + std::to_string(ranks[member.rank].rank);
  }
  return lines;
}

TEST(MatchCollectives, TheNthOfAGroupIsTheNthOnEveryRank) {
  EXPECT_THAT(matched(test_ranks({{{.ts = 10}, {.ts = 20}}, {{.ts = 21}, {.ts = 11}}})),
              ElementsAre("0_0: 0 1", "0_1: 0 1"));
}

TEST(MatchCollectives, EqualStartsKeepTheOrderOfTheFile) {
  const auto ranks = test_ranks({{{.ts = 10, .elements = 1}, {.ts = 10, .elements = 2}},
                                 {{.ts = 10, .elements = 1}, {.ts = 10, .elements = 2}}});
  EXPECT_THAT(matched(ranks), ElementsAre("0_0: 0 1", "0_1: 0 1"));
}

TEST(MatchCollectives, SequenceNumbersFindTheLostOne) {
  const auto ranks = test_ranks({{{.ts = 10, .seq = 4}, {.ts = 20, .seq = 5}, {.ts = 30, .seq = 6}},
                                 {{.ts = 10, .seq = 4}, {.ts = 30, .seq = 6}}});
  EXPECT_THAT(matched(ranks), ElementsAre("0_0: 0 1", "0_1: 0", "0_2: 0 1"));
}

TEST(MatchCollectives, WithoutNumbersMessagesFindTheLostOne) {
  const auto ranks =
      test_ranks({{{.ts = 10, .elements = 1}, {.ts = 20, .elements = 2}, {.ts = 30, .elements = 3}},
                  {{.ts = 10, .elements = 1}, {.ts = 30, .elements = 3}}});
  EXPECT_THAT(matched(ranks), ElementsAre("0_0: 0 1", "0_1: 0", "0_2: 0 1"));
}

TEST(MatchCollectives, WhatOnlyAShorterListHasGetsItsOwnPlace) {
  const auto ranks =
      test_ranks({{{.ts = 10, .elements = 1}, {.ts = 30, .elements = 3}, {.ts = 40, .elements = 4}},
                  {{.ts = 20, .elements = 2}, {.ts = 30, .elements = 3}}});
  EXPECT_THAT(matched(ranks), UnorderedElementsAre("0_1: 0", "0_0: 1", "0_2: 0 1", "0_3: 0"));
}

TEST(MatchCollectives, RanksMaySendDifferentAmounts) {
  const auto ranks = test_ranks({{{.name = "_allgather_base", .ts = 10, .elements = 1}},
                                 {{.name = "_allgather_base", .ts = 10, .elements = 7}}});
  EXPECT_THAT(matched(ranks), ElementsAre("0_0: 0 1"));
}

TEST(MatchCollectives, GroupsOfOneNameAreToldApartByTheirMembers) {
  const auto ranks = test_ranks({{{.group = "tp", .members = "[0, 1]"}},
                                 {{.group = "tp", .members = "[0, 1]"}},
                                 {{.group = "tp", .members = "[2, 3]"}},
                                 {{.group = "tp", .members = "[2, 3]"}}});
  EXPECT_THAT(matched(ranks), ElementsAre("tp@0_0: 0 1", "tp@2_0: 2 3"));
}

TEST(MatchCollectives, ManyProcessGroupsTakeLinearTime) {
  constexpr int kGroups = 40'000;
  std::vector<TestKernel> kernels;
  for (int i = 0; i < kGroups; ++i) kernels.push_back({.group = "g" + std::to_string(i)});
  const CollectiveRun run = test_run({kernels, kernels}, {.gpus_per_node = 2});
  ASSERT_EQ(run.matching().groups.size(), kGroups);
  EXPECT_EQ(run.matching().groups.back().id, "g39999");
  EXPECT_EQ(run.matching().collectives.size(), kGroups);
}

TEST(MatchCollectives, SendsAmongCollectivesDoNotShiftThem) {
  const TestKernel send{.name = "send", .ts = 15, .dur = 3, .peer = 1};
  const TestKernel receive{.name = "recv", .ts = 16, .dur = 2, .peer = 0};
  const auto ranks = test_ranks({{{.ts = 10}, send, {.ts = 20}},
                                 {{.ts = 10}, receive, {.ts = 20}},
                                 {{.ts = 10}, {.ts = 20}}});
  EXPECT_THAT(matched(ranks), ElementsAre("0_0: 0 1 2", "0_p2p0: 0 1", "0_1: 0 1 2"));
}

TEST(MatchCollectives, TheNthSendIsTheNthReceive) {
  const auto ranks =
      test_ranks({{{.name = "send", .ts = 1, .peer = 1}, {.name = "send", .ts = 2, .peer = 1}},
                  {{.name = "recv", .ts = 2, .peer = 0}, {.name = "recv", .ts = 1, .peer = 0}}});
  const Matching matching = match_collectives(ranks);
  ASSERT_EQ(matching.transfers.size(), 2u);
  EXPECT_EQ(matching.transfers[0].send->kernel, 0u);
  EXPECT_EQ(matching.transfers[0].receive->kernel, 1u);
}

TEST(MatchCollectives, InAGroupOfTwoThePeerIsTheOther) {
  const auto ranks = test_ranks({{{.name = "send", .ts = 1}}, {{.name = "recv", .ts = 2}}});
  const Matching matching = match_collectives(ranks);
  ASSERT_EQ(matching.transfers.size(), 1u);
  EXPECT_EQ(matching.transfers[0].from, 0);
  EXPECT_EQ(matching.transfers[0].to, 1);
  EXPECT_TRUE(matching.transfers[0].send && matching.transfers[0].receive);
}

TEST(MatchCollectives, WithoutAnyGroupNameThereIsOneListPerRank) {
  const auto ranks =
      test_ranks({{{.name = "", .ts = 1}, {.name = "", .ts = 2}}, {{.name = "", .ts = 1}}});
  const Matching matching = match_collectives(ranks);
  EXPECT_TRUE(matching.is_simplified);
  EXPECT_EQ(matched(ranks).front(), "0: 0 1");
}

}  // namespace
}  // namespace tracelens
