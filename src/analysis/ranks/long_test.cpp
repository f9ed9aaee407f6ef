#include "analysis/ranks/long.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tracelens/table_text.hpp>

#include "analysis/ranks/test_ranks.hpp"

namespace tracelens {
namespace {

using testing::ElementsAre;

std::vector<std::string> column(const Table& table, std::string_view name) {
  std::vector<std::string> cells;
  for (std::size_t row = 0; row < table.rows(); ++row)
    cells.push_back(plain_text(table.column(name), row));
  return cells;
}

TEST(NcclLong, IdsByPositionCountTheKernelsOfAGroupByTimeWhateverTheyAre) {
  // The second rank sends between the collectives and has them in another order in its file.
  const CollectiveRun run = test_run({{{.ts = 10, .dur = 5}, {.ts = 20, .dur = 5}},
                                      {{.ts = 30, .dur = 5},
                                       {.ts = 12, .dur = 3},
                                       {.name = "send", .ts = 15, .dur = 1},
                                       {.ts = 40, .dur = 2, .group = "tp"}}});
  const Table table = nccl_long(run, {.ids_by_position = true, .nanoseconds = true});
  EXPECT_THAT(column(table, "collective_id"),
              ElementsAre("0_0", "0_1", "0_2", "0_0", "0_1", "tp_0"));
  EXPECT_THAT(column(table, "index_in_group"), ElementsAre("0", "1", "2", "0", "1", "0"));
  EXPECT_THAT(column(table, "rank"), ElementsAre("0", "0", "1", "1", "1", "1"));
  EXPECT_THAT(column(table, "ts_ns"),
              ElementsAre("10000", "20000", "30000", "12000", "15000", "40000"));
}

TEST(NcclLong, WhereNoGroupHasANameTheRankCountsAsOne) {
  const CollectiveRun run = test_run({{{.name = "", .ts = 10, .dur = 5}, {.name = "", .ts = 5}}});
  const Table table = nccl_long(run, {.ids_by_position = true, .nodes = false});
  EXPECT_THAT(column(table, "collective_id"), ElementsAre("1", "0"));
  EXPECT_THAT(column(table, "Process Group Name"), ElementsAre("all", "all"));
  EXPECT_FALSE(table.has_column("ts_ns"));
}

}  // namespace
}  // namespace tracelens
