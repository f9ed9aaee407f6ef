#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "report/recipes/overview.hpp"

namespace tracelens {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// A row of comm_verdict.
struct Judged {
  std::string verdict = {}, late = {};
  std::int64_t count = 10, group_size = 2;
  double waiting_ms = 1;
};

// A run that mostly communicates.
Report report_of(const std::vector<Judged>& judged, std::int64_t ranks = 8) {
  const ColumnSpec spread[] = {{"step", Kind::kText, "", ""},
                               {"type", Kind::kText, "", ""},
                               {"mean (ms)", Kind::kReal, "ms", ""}};
  const ColumnSpec of_ranks[] = {{"rank", Kind::kInteger, "id", ""},
                                 {"file", Kind::kText, "", ""},
                                 {"node_id", Kind::kInteger, "id", ""}};
  const ColumnSpec verdict[] = {
      {"process group", Kind::kText, "id", ""}, {"collective", Kind::kText, "", ""},
      {"count", Kind::kInteger, "", ""},        {"exposed (ms)", Kind::kReal, "ms", ""},
      {"verdict", Kind::kText, "", ""},         {"late ranks", Kind::kText, "", ""},
      {"Group size", Kind::kInteger, "", ""},   {"waiting (ms)", Kind::kReal, "ms", ""}};
  Report report;
  Table& timeline = report.tables.emplace_back("rank_timeline_spread", "", spread);
  timeline.add_row("all", "exposed_comm_time", 60.0);
  timeline.add_row("all", "computation_time", 40.0);
  timeline.add_row("all", "total_time", 100.0);
  Table& files = report.tables.emplace_back("ranks", "", of_ranks);
  for (std::int64_t rank = 0; rank < ranks; ++rank)
    files.add_row(rank, "rank" + std::to_string(rank) + ".json", 0);
  if (judged.empty()) return report;
  Table& verdicts = report.tables.emplace_back("comm_verdict", "", verdict);
  for (const Judged& row : judged)
    verdicts.add_row("g", "allreduce", row.count, 1.0, row.verdict, row.late, row.group_size,
                     row.waiting_ms);
  return report;
}

Overview overview_of(const std::vector<Judged>& judged, std::int64_t ranks = 8) {
  return ranks_overview(report_of(judged, ranks)).value();
}

TEST(RanksOverview, TheRankThatMostWaitingIsForIsLate) {
  const Overview overview = overview_of({{.verdict = "imbalance",
                                          .late = "5 (90%), 4 (10%)",
                                          .count = 30,
                                          .group_size = 4,
                                          .waiting_ms = 7},
                                         {.verdict = "imbalance, network", .late = "4 (100%)"},
                                         {.verdict = "network, imbalance", .late = "5 (100%)"}});
  EXPECT_THAT(overview.verdict, HasSubstr("; rank 5 comes last to 92% of the collectives that hold "
                                          "94% of the waiting."));
  EXPECT_THAT(overview.advice, ElementsAre(HasSubstr("See what rank 5 does")));
  EXPECT_THAT(overview.commands.front(), HasSubstr("diff rank0.json rank5.json"));
}

TEST(RanksOverview, ARankThatNobodyWaitsForIsNotLate) {
  const Overview overview = overview_of({{.verdict = "overlap", .late = "0 (100%)"}});
  EXPECT_THAT(overview.verdict, Not(HasSubstr("rank 0")));
  EXPECT_THAT(overview.advice, ElementsAre(HasSubstr("no single rank is late")));
}

TEST(RanksOverview, RanksThatAreLateByTurnsAreNoSingleOne) {
  const Overview overview = overview_of({{.verdict = "imbalance", .late = "1 (30%), 2 (28%)"},
                                         {.verdict = "network", .late = "0 (100%)"}});
  EXPECT_THAT(overview.verdict, Not(HasSubstr("comes last")));
  EXPECT_THAT(overview.advice, ElementsAre(HasSubstr("now for one and now for another")));
}

TEST(RanksOverview, OfOneRankNobodyKnowsWhoIsLate) {
  const Overview overview = overview_of({}, 1);
  EXPECT_THAT(overview.advice, ElementsAre(HasSubstr("let computing run meanwhile.")));
}

TEST(RanksOverview, SendsAndReceivesAreACostOfTheRanksThatHaveSome) {
  const ColumnSpec columns[] = {{"process group", Kind::kText, "id", ""},
                                {"from rank", Kind::kInteger, "id", ""},
                                {"to rank", Kind::kInteger, "id", ""},
                                {"exposed (ms)", Kind::kReal, "ms", ""}};
  Report report = report_of({{.verdict = "overlap"}});
  Table& transfers = report.tables.emplace_back("p2p_summary", "", columns);
  transfers.add_row("pp", 0, 1, 50.0);
  transfers.add_row("pp", 1, 2, 40.0);
  const Overview overview = ranks_overview(report).value();
  ASSERT_EQ(overview.costs.size(), 2);
  EXPECT_EQ(overview.costs[0].name, "sends and receives (pp)");
  EXPECT_EQ(overview.costs[0].ns, 30'000'000);  // of three ranks
  EXPECT_EQ(overview.costs[0].costliest, "see p2p_summary");
}

}  // namespace
}  // namespace tracelens
