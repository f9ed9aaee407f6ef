#include "analysis/ranks/xla_bandwidth.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "analysis/ranks/device_groups.hpp"
#include "analysis/ranks/test_ranks.hpp"

namespace tracelens {
namespace {

// A rank that runs the op of XLA once, in one of four groups of eight.
RankTrace xla_rank(std::int64_t rank, const std::string& collective, double us,
                   std::int64_t bytes) {
  RankTrace trace = test_rank(
      rank, {{.name = collective, .ts = 10, .dur = us, .elements = bytes, .dtype = "bytes"}});
  trace.messages[0][CollectiveField::kGroupRanks] = "replica_groups=[4,8]<=[32]";
  trace.ops = {"jit_step/" + collective + ".1"};
  trace.kernels[0].op = 0;
  return trace;
}

// 32 ranks; the shortest kernels of the groups are known.
CollectiveRun all_gather_of_32() {
  const std::vector<std::pair<std::int64_t, double>> fastest = {
      {3, 412.785}, {10, 426.891}, {16, 467.234}, {27, 478.912}};
  std::vector<RankTrace> ranks;
  for (std::int64_t rank = 0; rank < 32; ++rank) {
    const auto& [quick, us] = fastest[static_cast<std::size_t>(rank / 8)];
    const double late = rank == quick ? 0 : 10 + static_cast<double>(rank);
    ranks.push_back(xla_rank(rank, "all_gather", us + late, 1'572'864));
  }
  resolve_device_groups(ranks);
  return CollectiveRun{std::move(ranks), {}};
}

TEST(XlaCollectives, EveryGroupHasItsBandwidthAndItsFastestAndSlowestRank) {
  const auto table = xla_collectives(all_gather_of_32());
  ASSERT_TRUE(table);
  ASSERT_EQ(table->rows(), 4u);
  const double algorithm[] = {49.681584, 48.039927, 43.891952, 42.821672};
  const double bus[] = {43.471386, 42.034936, 38.405458, 37.468963};
  const std::int64_t fastest[] = {3, 10, 16, 27}, slowest[] = {7, 15, 23, 31};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(table->column("op").texts()[i], "jit_step/all_gather.1");
    EXPECT_EQ(table->column("group").texts()[i], fmt::format("ranks {}-{}", 8 * i, 8 * i + 7));
    EXPECT_EQ(table->column("group size").integers()[i], 8);
    EXPECT_DOUBLE_EQ(table->column("sent").reals()[i], 1.5);
    EXPECT_NEAR(table->column("algorithm bandwidth_mean").reals()[i], algorithm[i], 1e-6);
    EXPECT_NEAR(table->column("bus bandwidth_mean").reals()[i], bus[i], 1e-6);
    EXPECT_EQ(table->column("fastest rank").integers()[i], fastest[i]);
    EXPECT_EQ(table->column("slowest rank").integers()[i], slowest[i]);
  }
}

TEST(XlaCollectives, OfAllGroupsTogetherThereIsTheMean) {
  const auto table = xla_collectives_by_type(all_gather_of_32());
  ASSERT_TRUE(table);
  ASSERT_EQ(table->rows(), 1u);
  EXPECT_EQ(table->column("collective").texts()[0], "all_gather");
  EXPECT_EQ(table->column("runs").integers()[0], 1);
  EXPECT_NEAR(table->column("algorithm bandwidth_mean").reals()[0], 46.108784, 1e-6);
  EXPECT_NEAR(table->column("bus bandwidth_mean").reals()[0], 40.345186, 1e-6);
}

TEST(XlaCollectives, WhatIsReadAndWrittenDependsOnTheOperation) {
  struct Expected {
    const char* collective;
    double moved, bus;  // of 1 GiB in groups of eight
  };
  for (const auto& [collective, moved, bus] :
       {Expected{"allreduce", 2, 1.75}, Expected{"reduce_scatter", 1.125, 0.875},
        Expected{"all_to_all", 1.75, 0.875}, Expected{"collective_permute", 2, 1},
        Expected{"broadcast", 1, 1}}) {
    std::vector<RankTrace> ranks;
    for (std::int64_t rank = 0; rank < 8; ++rank)
      ranks.push_back(xla_rank(rank, collective, 1e6, std::int64_t{1} << 30));
    resolve_device_groups(ranks);
    const auto table = xla_collectives(CollectiveRun{std::move(ranks), {}});
    ASSERT_TRUE(table) << collective;
    EXPECT_NEAR(table->column("algorithm bandwidth_mean").reals()[0], moved, 1e-9) << collective;
    EXPECT_NEAR(table->column("bus bandwidth_mean").reals()[0], moved * bus, 1e-9) << collective;
  }
}

TEST(XlaCollectives, OfTracesWithoutHloThereIsNoTable) {
  const CollectiveRun run = test_run({{{.ts = 10, .dur = 5}}, {{.ts = 12, .dur = 3}}});
  EXPECT_FALSE(xla_collectives(run));
  EXPECT_FALSE(xla_collectives_by_type(run));
}

}  // namespace
}  // namespace tracelens
