#include "analysis/ranks/verdict.hpp"

#include <gtest/gtest.h>

#include "analysis/kit/test_ops.hpp"
#include "analysis/ranks/test_ranks.hpp"

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

// Rank 0 waits `wait` us for rank 1, then both need `dur`.
Table verdict_on_waiting(double wait, double dur, std::int64_t elements) {
  const CollectiveRun run = test_run({{{.ts = 0, .dur = wait + dur, .elements = elements}},
                                      {{.ts = wait, .dur = dur, .elements = elements}}});
  return comm_verdict(run, {.link_gbps = 200}).value();
}

TEST(Verdict, ThePartOfTheTimeThatIsWaitingIsToldWithItsRank) {
  const Table table = verdict_on_waiting(100, 100, 16 * kMib);  // 100 of 200 us, and 0 of 100
  EXPECT_EQ(cell(table, "verdict", 0), "overlap, imbalance");
  EXPECT_EQ(cell(table, "why", 0),
            "33% of the time is waiting for rank 1 (100%); bandwidth is 84% of the link's peak; "
            "little computes meanwhile");
}

TEST(Verdict, TinyMessagesHaveNoBandwidthToBlame) {
  const Table table = verdict_on_waiting(900, 10, 1);
  EXPECT_EQ(cell(table, "verdict", 0), "imbalance");
  EXPECT_EQ(cell(table, "why", 0),
            "98% of the time is waiting for rank 1 (100%); messages are tiny");
}

TEST(Verdict, RanksThatComeApartAndDoNotWaitDoNotArriveTogether) {
  const CollectiveRun run =
      test_run({{{.name = "all_to_allv", .ts = 0, .dur = 100, .elements = 16 * kMib}},
                {{.name = "all_to_allv", .ts = 640, .dur = 100, .elements = 16 * kMib}}});
  const Table table = comm_verdict(run, {.link_gbps = 900}).value();
  EXPECT_EQ(cell(table, "verdict", 0), "network");
  EXPECT_EQ(cell(table, "why", 0),
            "ranks do not wait for each other; starts are up to 640 us apart, and in 1 of 1 "
            "collectives a rank leaves before the last comes; bandwidth is 9% of the link's peak");
}

TEST(Verdict, KernelsWithoutANameThatAreNotOneOperationGetNone) {
  const CollectiveRun run =
      test_run({{{.name = "", .ts = 0, .dur = 100}}, {{.name = "", .ts = 640, .dur = 100}}});
  EXPECT_EQ(cell(comm_verdict(run, {}).value(), "verdict", 0), "unknown");
}

TEST(Verdict, BandwidthOfUnknownSizeIsNotCalledGood) {
  const TestKernel kernel{.dur = 100, .elements = 16 * kMib, .dtype = "Secret"};
  const CollectiveRun run{test_ranks({{kernel}, {kernel}}), {}};
  EXPECT_EQ(cell(comm_verdict(run, {}).value(), "why", 0),
            "ranks arrive together; the sizes of the messages are not known; little computes "
            "meanwhile");
}

TEST(Verdict, UnitsAreThoseOfTheHeaders) {
  const CollectiveRun run{together(100, 100), {}};
  const Table table = comm_verdict(run, {.link_gbps = 400}).value();
  EXPECT_DOUBLE_EQ(table.column("message (MB)").reals()[0], 16 * 1.048576);
  const double rate = table.column("bus bw (GB/s)").reals()[0];
  EXPECT_DOUBLE_EQ(rate, 16 * 1.048576e6 / 100e-6 / 1e9);
  EXPECT_DOUBLE_EQ(table.column("of link peak (%)").reals()[0], 100 * rate / 400);
}

TEST(Verdict, InsideOneMachineTheGpusOwnLinkIsTheMeasure) {
  const auto peak_on = [](const char* device, std::int64_t gpus_per_node,
                          std::optional<double> link = {}) {
    std::vector<RankTrace> ranks = together(100, 100);
    for (RankTrace& rank : ranks) rank.device_name = device;
    const CollectiveRun run{ranks, {.gpus_per_node = gpus_per_node}};
    const Table table = comm_verdict(run, {.link_gbps = link}).value();
    return table.has_column("link peak (GB/s)") ? cell(table, "link peak (GB/s)", 0) : "none";
  };
  EXPECT_EQ(peak_on("NVIDIA H200", 2), "450.0");
  EXPECT_EQ(peak_on("NVIDIA H200", 2, 400), "400.0");  // what is asked for wins
  EXPECT_EQ(peak_on("NVIDIA H200", 1), "none");        // another link leads to the other machine
  EXPECT_EQ(peak_on("Synthetic GPU", 2), "none");
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
