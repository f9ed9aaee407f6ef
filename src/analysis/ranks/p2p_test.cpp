#include "analysis/ranks/p2p.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/kit/test_ops.hpp"
#include "analysis/ranks/test_ranks.hpp"

namespace tracelens {
namespace {

using testing::ElementsAre;

constexpr std::int64_t kMib = 1 << 18;  // floats

TEST(PointToPoint, TheLaterSideTellsTheTimeAndTheOtherWaited) {
  const CollectiveRun run =
      test_run({{{.name = "send", .ts = 10, .dur = 50, .elements = kMib, .peer = 1}},
                {{.name = "recv", .ts = 40, .dur = 20, .elements = kMib, .peer = 0}}});
  const Table table = p2p(run).value();
  EXPECT_THAT(column(table, "transfer time"), ElementsAre("20.0"));
  EXPECT_THAT(column(table, "sender wait"), ElementsAre("30.0"));
  EXPECT_THAT(column(table, "receiver wait"), ElementsAre("0.0"));
  // Units as the headers say: 10^6 bytes, 10^9 bytes per second.
  EXPECT_DOUBLE_EQ(table.column("size (MB)").reals()[0], 1.048576);
  EXPECT_DOUBLE_EQ(table.column("bandwidth (GB/s)").reals()[0], 1.048576e6 / 20e-6 / 1e9);
}

TEST(PointToPoint, ASendWithoutAReceiveIsShownAndCounted) {
  const CollectiveRun run = test_run({{{.name = "send", .ts = 10, .dur = 50, .peer = 1}}, {}});
  EXPECT_THAT(column(p2p(run).value(), "receive ts"), ElementsAre(""));
  const Table summary = p2p_summary(run).value();
  EXPECT_THAT(column(summary, "count"), ElementsAre("0"));
  EXPECT_THAT(column(summary, "unmatched"), ElementsAre("1"));
}

TEST(PointToPoint, PairsAreSummedUpBySize) {
  const CollectiveRun run = test_run({{{.name = "send", .ts = 0, .dur = 10, .peer = 1},
                                       {.name = "send", .ts = 20, .dur = 30, .peer = 1}},
                                      {{.name = "recv", .ts = 0, .dur = 10, .peer = 0},
                                       {.name = "recv", .ts = 20, .dur = 30, .peer = 0}}});
  const Table table = p2p_summary(run).value();
  EXPECT_THAT(column(table, "count"), ElementsAre("2"));
  EXPECT_THAT(column(table, "transfer time mean (us)"), ElementsAre("20.0"));
  EXPECT_DOUBLE_EQ(table.column("total (MB)").reals()[0], 2 * 4096 / 1e6);
  EXPECT_THAT(column(table, "exposed (ms)"), ElementsAre("0.08"));  // nobody computes: both sides
}

TEST(PointToPoint, CollectivesAreNoTransfers) { EXPECT_FALSE(p2p(test_run({{{.dur = 1}}}))); }

}  // namespace
}  // namespace tracelens
