#include "analysis/ranks/sync.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/kit/test_ops.hpp"
#include "analysis/ranks/test_ranks.hpp"

namespace tracelens {
namespace {

using testing::ElementsAre;

// Rank 0 arrives at 10, rank 1 at 14; both leave at 20.
CollectiveRun late_rank_1() { return test_run({{{.ts = 10, .dur = 10}}, {{.ts = 14, .dur = 6}}}); }

TEST(SyncCollectives, TheShortestKernelIsTheTrueCost) {
  const CollectiveRun run = late_rank_1();
  const auto rows = sync_collectives(run);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].latency_ns, 6000);
  EXPECT_EQ(rows[0].start_skew_ns, 4000);
  EXPECT_EQ(rows[0].end_skew_ns, 0);
  EXPECT_EQ(rows[0].earliest_rank, 0);
  EXPECT_EQ(rows[0].latest_rank, 1);
}

TEST(SyncCollectives, BandwidthIsMessageOverTrueCost) {
  // 1024 floats are 4 KiB; in 6 us that is 4096 / 2^30 / 6e-6 GiB/s, twice half of it on the bus.
  const auto rows = sync_collectives(late_rank_1());
  const double algo = 4096.0 / (1 << 30) / 6e-6;
  EXPECT_DOUBLE_EQ(rows[0].algo_gibps.value(), algo);
  EXPECT_DOUBLE_EQ(rows[0].bus_gibps.value(), algo * 2 * (2 - 1) / 2);
}

TEST(SyncCollectives, AllGatherCountsWhatIsReceived) {
  const CollectiveRun run = test_run({{{.name = "_allgather_base",
                                        .ts = 1,
                                        .dur = 1,
                                        .elements = 1 << 18,
                                        .out_elements = 1 << 19}}});
  EXPECT_DOUBLE_EQ(sync_collectives(run)[0].full_mib.value(), 2);
}

TEST(SyncCollectives, OfEqualStartsTheHighestIsFirstAndTheLowestIsLast) {
  const CollectiveRun run = test_run({{{.ts = 5, .dur = 1}}, {{.ts = 5, .dur = 1}}});
  const auto rows = sync_collectives(run);
  EXPECT_EQ(rows[0].earliest_rank, 1);
  EXPECT_EQ(rows[0].latest_rank, 0);
}

TEST(SyncCollectives, BroadcastsDoNotSynchronize) {
  EXPECT_TRUE(sync_collectives(test_run({{{.name = "broadcast", .dur = 1}}})).empty());
}

TEST(SyncCollectives, TheListFormOfReduceScatterCountsInTheExtendedEdition) {
  const std::vector<std::vector<TestKernel>> kernels{{{.name = "reduce_scatter", .dur = 1}}};
  EXPECT_EQ(sync_collectives(test_run(kernels)).size(), 1u);
  EXPECT_TRUE(sync_collectives(test_run(kernels, {.edition = Edition::kReference})).empty());
}

TEST(ImplicitSync, ARanksColumnsAppearWhenItFirstTakesPart) {
  const CollectiveRun run = test_run({{{.ts = 1, .dur = 1, .members = "[0, 2]"}},
                                      {{.ts = 9, .dur = 1, .group = "1", .members = "[1]"}},
                                      {{.ts = 1, .dur = 1, .members = "[0, 2]"}}});
  const Table table = nccl_implicit_sync(run, sync_collectives(run));
  std::vector<std::string> names;
  for (const auto& column : table.columns())
    if (column.spec().name.starts_with("rank_")) names.push_back(column.spec().name);
  EXPECT_THAT(names,
              ElementsAre("rank_0_ts", "rank_0_dur", "rank_2_ts", "rank_2_dur", "rank_0_wait_time",
                          "rank_2_wait_time", "rank_1_ts", "rank_1_dur", "rank_1_wait_time"));
  EXPECT_EQ(cell(table, "rank_1_ts", 0), "");
}

// As nccl-tests count it: all that reaches the root, whatever a rank writes down as its output.
TEST(Measure, AGatherMovesWhatAllRanksBring) {
  for (const std::int64_t out : {0, 1024, 4096}) {
    const TestKernel kernel{.name = "gather",
                            .ts = 1,
                            .dur = 10,
                            .members = "[0, 1, 2, 3]",
                            .group_size = 4,
                            .out_elements = out};
    const CollectiveRun run = test_run({{kernel}, {kernel}, {kernel}, {kernel}});
    const SyncCollective measured = measure(run, 0, CollectiveKind::kGather);
    EXPECT_DOUBLE_EQ(measured.full_mib.value(), 4 * 4096.0 / (1 << 20));
    EXPECT_DOUBLE_EQ(measured.bus_gibps.value(), 0.75 * measured.algo_gibps.value());
  }
}

TEST(ImplicitSync, WithoutCollectivesThereAreNoColumns) {
  const CollectiveRun run = test_run({{}});
  EXPECT_TRUE(nccl_implicit_sync(run, {}).columns().empty());
}

TEST(SummaryImplicitSync, GroupsByOperationTypeAndSizeAndSumsUpAsAsked) {
  const CollectiveRun run = test_run(
      {{{.ts = 1, .dur = 4}, {.ts = 10, .dur = 6}, {.ts = 20, .dur = 100, .elements = 7}}});
  const Table table = nccl_summary_implicit_sync(
      run, sync_collectives(run), parse_aggregates(std::vector<std::string>{"mean", "max"}));
  EXPECT_THAT(column(table, "In msg nelems"), ElementsAre("7", "1024"));  // costliest first
  EXPECT_THAT(column(table, "comm_latency_mean"), ElementsAre("100.0", "5.0"));
  EXPECT_THAT(column(table, "comm_latency_max"), ElementsAre("100.0", "6.0"));
  EXPECT_THAT(column(table, "count"), ElementsAre("1", "2"));
}

TEST(StragglerSummary, TheWorstStragglerWaitsLeast) {
  const CollectiveRun run = test_run({{{.ts = 10, .dur = 10}, {.ts = 30, .dur = 9}},
                                      {{.ts = 14, .dur = 6}, {.ts = 33, .dur = 6}}});
  const Table table = straggler_summary(run, sync_collectives(run)).value();
  EXPECT_THAT(column(table, "rank"), ElementsAre("1", "0"));
  EXPECT_THAT(column(table, "total_wait_time_us"), ElementsAre("0.0", "7.0"));
  EXPECT_THAT(column(table, "times_arrived_last"), ElementsAre("2", "0"));
  EXPECT_THAT(column(table, "pct_arrived_last"), ElementsAre("100.0", "0.0"));
  EXPECT_THAT(column(table, "total_nccl_dur_us"), ElementsAre("12.0", "19.0"));
}

TEST(StragglerSummary, TenthsAreRoundedHalfToEven) {
  const CollectiveRun run = test_run({{{.ts = 0, .dur = 1}}, {{.ts = 0.25, .dur = 1}}});
  const Table table = straggler_summary(run, sync_collectives(run)).value();
  EXPECT_THAT(column(table, "total_wait_time_us"), ElementsAre("0.0", "0.2"));
}

}  // namespace
}  // namespace tracelens
