#include "analysis/collective_verdict.hpp"

#include <gtest/gtest.h>

#include "analysis/op_test_trace.hpp"
#include "analysis/test_ranks.hpp"

namespace tracelens {
namespace {

constexpr std::int64_t kMib = 1 << 18;  // floats

std::string verdict_on(const std::vector<RankTrace>& ranks, std::optional<double> link = {}) {
  const CollectiveRun run{ranks, {}};
  return cell(comm_verdict(run, {.link_gbps = link}).value(), "verdict", 0);
}

// Both arrive together; 16 MiB in `dur` us.
std::vector<RankTrace> together(double dur, double exposed) {
  const TestKernel kernel{.ts = 10, .dur = dur, .elements = 16 * kMib, .exposed = exposed};
  return test_ranks({{kernel}, {kernel}});
}

TEST(Verdict, HiddenBehindComputationIsFine) { EXPECT_EQ(verdict_on(together(100, 5)), "fine"); }

TEST(Verdict, ExposedAtTheSpeedOfTheLinkLacksOverlap) {
  // 16 MiB in 100 us on the bus: 168 GB/s.
  EXPECT_EQ(verdict_on(together(100, 100), 200), "overlap");
}

TEST(Verdict, ExposedAndSlowIsTheNetwork) {
  EXPECT_EQ(verdict_on(together(100, 100), 900), "network");
}

TEST(Verdict, SmallMessagesCostLatency) {
  const TestKernel kernel{.ts = 10, .dur = 20, .elements = 16};
  EXPECT_EQ(verdict_on(test_ranks({{kernel}, {kernel}}), 900), "latency");
}

TEST(Verdict, WaitingForOneRankIsImbalanceAndSaysWhatItDid) {
  std::vector<RankTrace> ranks = test_ranks({{{.ts = 0, .dur = 900, .elements = 16 * kMib}},
                                             {{.ts = 800, .dur = 100, .elements = 16 * kMib}}});
  ranks[1].activity.texts = {"aten::mm in Linear_3", "idle"};
  ranks[1].activity.stretches = {{0, 700'000, 0}, {700'000, 800'000, 1}};
  const CollectiveRun run{ranks, {}};
  const Table table = comm_verdict(run, {.link_gbps = 200}).value();
  EXPECT_EQ(cell(table, "verdict", 0), "imbalance");
  EXPECT_EQ(cell(table, "late ranks", 0), "1 (100%)");
  EXPECT_EQ(cell(table, "late rank was in", 0), "aten::mm in Linear_3");
  EXPECT_EQ(cell(table, "communication (ms)", 0), "0.1");
  EXPECT_EQ(cell(table, "waiting (ms)", 0), "0.4");  // rank 0 waits 0.8, rank 1 not at all
}

TEST(Verdict, WithoutALinkTheBestOfTheRunIsTheMeasure) {
  const auto kernel = [](const char* group, double dur) {
    return TestKernel{.ts = 10, .dur = dur, .elements = 16 * kMib, .group = group};
  };
  const CollectiveRun run{test_ranks({{kernel("fast", 100), kernel("slow", 1000)},
                                      {kernel("fast", 100), kernel("slow", 1000)}}),
                          {}};
  const Table table = comm_verdict(run, {}).value();
  EXPECT_EQ(cell(table, "process group", 0), "slow");  // costs most
  EXPECT_EQ(cell(table, "verdict", 0), "network");
  EXPECT_EQ(cell(table, "verdict", 1), "overlap");
}

TEST(Verdict, NoCollectivesNoTable) { EXPECT_FALSE(comm_verdict(test_run({{}}), {})); }

}  // namespace
}  // namespace tracelens
