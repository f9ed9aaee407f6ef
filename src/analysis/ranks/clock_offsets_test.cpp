#include "analysis/ranks/clock_offsets.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "analysis/ranks/test_ranks.hpp"

namespace tracelens {
namespace {

// Ranks that compute for a while, meet in a collective and leave it together, each with a delay of
// up to 9 us that the last to arrive does not have. Times are by clocks that are ahead by
// `ahead_us`.
std::vector<RankTrace> meet(const std::vector<double>& ahead_us, int ranks_per_clock,
                            int collectives, std::int64_t straggler) {
  std::mt19937 random{7};
  const auto upto = [&](int us) {
    return static_cast<double>(random() % static_cast<unsigned>(us * 1000)) / 1000;
  };
  const std::size_t count = ahead_us.size() * static_cast<std::size_t>(ranks_per_clock);
  std::vector<std::vector<TestKernel>> kernels(count);
  double now = 1000;
  for (int i = 0; i < collectives; ++i) {
    std::vector<double> start(count);
    for (std::size_t rank = 0; rank < count; ++rank)
      start[rank] = now + upto(50) + (static_cast<std::int64_t>(rank) == straggler ? 100 : 0);
    const double last = *std::ranges::max_element(start);
    for (std::size_t rank = 0; rank < count; ++rank) {
      const double delay = start[rank] == last ? 0 : 0.1 + upto(9);
      const double ahead = ahead_us[rank / static_cast<std::size_t>(ranks_per_clock)];
      kernels[rank].push_back({.ts = start[rank] + ahead,
                               .dur = last - start[rank] + 30 + delay,
                               .members = "all",
                               .group_size = static_cast<std::int64_t>(count)});
    }
    now = last + 500;
  }
  return test_ranks(kernels);
}

TEST(ClockOffsets, AreFoundWithinAMicrosecondWhoeverIsLate) {
  const std::vector<double> ahead{0, 999.5, -700, 3};
  for (const std::int64_t straggler : {0, 9, -1}) {
    const CollectiveRun run{meet(ahead, 4, 60, straggler), {.gpus_per_node = 4}};
    const ClockOffsets offsets = estimate_clock_offsets(run);
    ASSERT_EQ(offsets.clocks.size(), 4u);
    for (std::size_t i = 0; i < ahead.size(); ++i)
      EXPECT_NEAR(static_cast<double>(offsets.clocks[i].offset_ns.value()) / 1000, ahead[i], 1)
          << "node " << i << ", straggler " << straggler;
    EXPECT_EQ(offsets.by_rank[5], offsets.clocks[1].offset_ns);
  }
}

TEST(ClockOffsets, SamplesAndUncertaintyBelongToTheOffsetThatIsTold) {
  // Node 2 is always last, so the clocks of 0, 1 and 3 are compared with its clock only, from one
  // side; their offsets are told from node 0.
  const CollectiveRun run{meet({0, 10, 20, 30}, 1, 12, 2), {.gpus_per_node = 1}};
  const ClockOffsets offsets = estimate_clock_offsets(run);
  EXPECT_FALSE(offsets.clocks[0].samples);
  EXPECT_EQ(offsets.clocks[0].uncertainty_ns, 0);
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(offsets.clocks[i].from_clock, 0);
    EXPECT_EQ(offsets.clocks[i].samples, 12u) << i;
    EXPECT_FALSE(offsets.clocks[i].uncertainty_ns) << i;
  }
}

TEST(ClockOffsets, EverySetOfClocksThatMeetHasItsOwnMeasure) {
  const auto kernel = [](const char* group, double ts, double dur) {
    return TestKernel{.ts = ts, .dur = dur, .group = group};
  };
  const CollectiveRun run = test_run(
      {{kernel("a", 0, 100)}, {kernel("a", 50, 50)}, {kernel("b", 7, 100)}, {kernel("b", 57, 52)}});
  const ClockOffsets offsets = estimate_clock_offsets(run);
  EXPECT_EQ(offsets.clocks[1].from_clock, 0);
  EXPECT_EQ(offsets.clocks[3].from_clock, 2);
  EXPECT_EQ(offsets.clocks[3].offset_ns, 2'000);
}

TEST(ClockOffsets, OneMachineHasOneClock) {
  const CollectiveRun run{meet({0}, 4, 3, 1), {.gpus_per_node = 4}};
  EXPECT_EQ(estimate_clock_offsets(run).by_rank, (std::vector<std::int64_t>{0, 0, 0, 0}));
  EXPECT_FALSE(clock_offset_table(estimate_clock_offsets(run)));
}

// Ranks as meet() makes them, the clock of one hours ahead.
std::vector<RankTrace> with_one_ahead(std::size_t rank, std::int64_t ahead_ns) {
  std::vector<RankTrace> ranks = meet({0}, 4, 20, 1);
  shift_times(ranks[rank], ahead_ns);
  return ranks;
}
constexpr std::int64_t kHoursNs = 32'400'000'000'000;

TEST(ClockOffsets, RanksOfOneMachineHaveTheirOwnWhereItsClockCannotBeTrue) {
  for (const std::int64_t ahead : {kHoursNs, -kHoursNs}) {
    const CollectiveRun run{with_one_ahead(1, ahead), {.gpus_per_node = 4}};
    const ClockOffsets offsets = estimate_clock_offsets(run);
    EXPECT_FALSE(offsets.is_by_node);
    EXPECT_TRUE(offsets.are_needed());
    EXPECT_NEAR(static_cast<double>(offsets.by_rank[1]), static_cast<double>(ahead), 5'000);
    ASSERT_EQ(offsets.clocks.size(), 2u);  // the others share one
    EXPECT_EQ(offsets.clocks[0].rank_count, 3);
    EXPECT_EQ(offsets.by_rank[3], 0);
    EXPECT_EQ(offsets.recorded.impossible, 20u);
    EXPECT_EQ(offsets.corrected.impossible, 0u);
    EXPECT_LT(offsets.corrected.usual_end_skew_ns, 20'000);
  }
}

TEST(ClockOffsets, KernelsWithoutNamesTellClocksThatAreFartherApartThanTracesAreLong) {
  for (const std::int64_t ahead : {std::int64_t{0}, std::int64_t{300'000}, kHoursNs}) {
    std::vector<RankTrace> ranks = with_one_ahead(0, ahead);
    for (RankTrace& rank : ranks)
      for (CollectiveMessage& message : rank.messages) message.fields = {};
    const CollectiveRun run{std::move(ranks), {}};
    const ClockOffsets offsets = estimate_clock_offsets(run);
    EXPECT_EQ(offsets.are_needed(), ahead == kHoursNs) << ahead;
    EXPECT_EQ(offsets.clocks[0].offset_ns.has_value(), ahead == kHoursNs) << ahead;
  }
}

TEST(ClockOffsets, AreNotNeededWhereTimesAreTrue) {
  const CollectiveRun run{meet({0, 3}, 2, 20, 1), {.gpus_per_node = 2}};
  EXPECT_FALSE(estimate_clock_offsets(run).are_needed());
}

TEST(ClockOffsets, ACollectiveThatWasMatchedWronglySpoilsNone) {
  std::vector<RankTrace> ranks = meet({0, 400}, 1, 40, 0);
  ranks[1].kernels[17].ts_ns -= 50'000'000;
  const CollectiveRun run{std::move(ranks), {.gpus_per_node = 1}};
  EXPECT_NEAR(static_cast<double>(estimate_clock_offsets(run).by_rank[1]), 400'000, 1'000);
}

TEST(ClockOffsets, WhatNoOffsetExplainsIsLeftAsItIs) {
  // Now ahead, now behind: no clock does that.
  std::vector<RankTrace> ranks = meet({0}, 2, 20, 1);
  for (std::size_t i = 0; i < 20; ++i)
    ranks[1].kernels[i].ts_ns += (i % 2 == 0 ? 1 : -1) * 1'000'000'000;
  const CollectiveRun run{std::move(ranks), {.gpus_per_node = 2}};
  const ClockOffsets offsets = estimate_clock_offsets(run);
  EXPECT_TRUE(offsets.recorded.is_usual);
  EXPECT_FALSE(offsets.are_needed());
  EXPECT_EQ(offsets.by_rank, (std::vector<std::int64_t>{0, 0}));
}

TEST(ClockOffsets, MachinesThatNeverMeetHaveNone) {
  const CollectiveRun run =
      test_run({{{.group = "a", .members = "[0]"}}, {{.group = "b", .members = "[1]"}}});
  const ClockOffsets offsets = estimate_clock_offsets(run);
  ASSERT_EQ(offsets.clocks.size(), 2u);
  EXPECT_FALSE(offsets.clocks[1].offset_ns);
  EXPECT_EQ(clock_offset_table(offsets)->rows(), 2u);
}

TEST(ClockOffsets, ShiftingTakesThemOut) {
  CollectiveRun run{meet({0, 400}, 2, 40, 0), {.gpus_per_node = 2}};
  run.shift_clocks(estimate_clock_offsets(run).by_rank);
  EXPECT_LT(std::abs(estimate_clock_offsets(run).clocks[1].offset_ns.value()), 1);
}

}  // namespace
}  // namespace tracelens
