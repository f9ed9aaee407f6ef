#include "analysis/ranks/alltoallv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/kit/test_ops.hpp"
#include "analysis/ranks/test_ranks.hpp"

namespace tracelens {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

constexpr std::int64_t kMib = 1 << 18;  // elements of four bytes

TestKernel exchange(double ts, double dur, std::int64_t elements, const char* splits) {
  return {.name = "all_to_allv", .ts = ts, .dur = dur, .elements = elements, .splits = splits};
}

TEST(UnevenExchanges, CountWhatAllRanksSendOverTheWallTime) {
  const CollectiveRun run =
      test_run({{exchange(10, 10, 3 * kMib, "[1, 2]")}, {exchange(12, 4, kMib, "[1, 0]")}});
  const auto rows = uneven_exchanges(run);
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].total_mib, 4);
  EXPECT_DOUBLE_EQ(rows[0].gibps.value(), 4.0 / 1024 / 10e-6);          // from 10 to 20
  EXPECT_DOUBLE_EQ(rows[0].fastest_gibps.value(), 3.0 / 1024 / 10e-6);  // rank 0; rank 1: 1 in 4
  EXPECT_DOUBLE_EQ(rows[0].slowest_gibps.value(), 1.0 / 1024 / 4e-6);
  EXPECT_DOUBLE_EQ(rows[0].imbalance.value(), 1.5);  // 3 of a mean of 2
}

TEST(UnevenExchanges, BalancedOnesHaveNoImbalance) {
  const CollectiveRun run =
      test_run({{exchange(1, 1, kMib, "[1]")}, {exchange(1, 1, kMib, "[1]")}});
  EXPECT_DOUBLE_EQ(uneven_exchanges(run)[0].imbalance.value(), 1);
}

TEST(UnevenExchanges, UnknownSizesLeaveRatesEmptyAndComeLast) {
  TestKernel strange = exchange(1, 1, 5, "[5]");
  strange.dtype = "Strange";
  const CollectiveRun run = test_run({{strange, exchange(5, 1, kMib, "[1]")}});
  const auto rows = uneven_exchanges(run);
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].total_mib, 1);
  EXPECT_FALSE(rows[1].total_mib || rows[1].gibps || rows[1].imbalance);
}

TEST(AllToAllVTable, EveryRankHasItsOwnColumns) {
  const CollectiveRun run =
      test_run({{exchange(10, 10, kMib, "[1, 2]")}, {exchange(12, 4, kMib, "[1, 0]")}});
  const Table table = nccl_all2allv(run, uneven_exchanges(run)).value();
  EXPECT_EQ(cell(table, "rank_1_skew in start time", 0), "2.0");
  EXPECT_EQ(cell(table, "rank_1_skew in end time", 0), "4.0");
  EXPECT_EQ(cell(table, "rank_0_In split size", 0), "[1, 2]");
  EXPECT_FALSE(nccl_all2allv(run, {}));
}

TEST(AllToAllVHeatmap, DestinationsAreRanksOfTheGroup) {
  TestKernel kernel = exchange(1, 1, kMib, "[262144, 0]");
  kernel.members = "[4, 6]";
  std::vector<RankTrace> ranks{test_rank(4, {kernel, kernel})};
  std::vector<std::string> warnings;
  const CollectiveRun run{ranks, {}};
  const Table table = nccl_all2allv_heatmap(run, warnings).value();
  EXPECT_THAT(column(table, "dst_rank"), ElementsAre("4", "6"));
  EXPECT_THAT(column(table, "total_sent_MB"), ElementsAre("2.0", "0.0"));
  EXPECT_THAT(column(table, "avg_sent_MB"), ElementsAre("1.0", "0.0"));
  const CollectiveRun reference{ranks, {.edition = Edition::kReference}};
  EXPECT_THAT(column(nccl_all2allv_heatmap(reference, warnings).value(), "dst_rank"),
              ElementsAre("0", "1"));
}

TEST(AllToAllVHeatmap, KernelsItCannotReadAreToldOf) {
  std::vector<std::string> warnings;
  const CollectiveRun run =
      test_run({{exchange(1, 1, 5, "(5, 0)"), exchange(3, 1, 5, "[1, 2, 2]")}});
  EXPECT_FALSE(nccl_all2allv_heatmap(run, warnings));
  EXPECT_THAT(warnings, SizeIs(2));
}

TEST(SummaryAllToAllV, OneRowPerGroupAndType) {
  const CollectiveRun run = test_run({{exchange(1, 2, kMib, "[1]"), exchange(5, 4, kMib, "[1]")}});
  const Table table = nccl_summary_all2allv(run, uneven_exchanges(run),
                                            parse_aggregates(std::vector<std::string>{"mean"}))
                          .value();
  EXPECT_THAT(column(table, "count"), ElementsAre("2"));
  EXPECT_THAT(column(table, "wall_time (us)_mean"), ElementsAre("3.0"));
  EXPECT_THAT(column(table, "Total wall_time (ms)"), ElementsAre("0.006"));
}

}  // namespace
}  // namespace tracelens
