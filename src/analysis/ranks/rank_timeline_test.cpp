#include "analysis/ranks/rank_timeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/kit/test_ops.hpp"
#include "analysis/ranks/test_ranks.hpp"

namespace tracelens {
namespace {

using testing::ElementsAre;

CollectiveRun run_of(const std::vector<std::vector<std::string>>& steps) {
  std::vector<RankTrace> ranks = test_ranks({steps.size(), std::vector<TestKernel>{}});
  for (std::size_t i = 0; i < steps.size(); ++i)
    for (const std::string& name : steps[i])
      ranks[i].steps.push_back({.name = name, .total_ns = 1});
  return CollectiveRun{std::move(ranks), {}};
}

TEST(RankTimeline, StepsStandInTheOrderOfTheFirstRankThatHasThem) {
  const Table table = rank_timeline(run_of({{"all", "b"}, {"all", "a", "b", "b"}})).value();
  EXPECT_THAT(column(table, "step"), ElementsAre("all", "all", "b", "b", "a"));
  EXPECT_THAT(column(table, "rank"), ElementsAre("0", "1", "0", "1", "1"));
}

TEST(RankTimeline, ManyStepsTakeLinearTime) {
  std::vector<std::string> names;
  for (int i = 0; i < 40'000; ++i) names.push_back("ProfilerStep#" + std::to_string(i));
  const CollectiveRun run = run_of({names, names});
  EXPECT_EQ(rank_timeline(run)->rows(), 2 * names.size());
  EXPECT_EQ(rank_timeline_spread(run)->rows(), 6 * names.size());
}

}  // namespace
}  // namespace tracelens
