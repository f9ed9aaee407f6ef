#include "analysis/host/diff_counts.hpp"

#include <gtest/gtest.h>

#include "analysis/kit/test_ops.hpp"
#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

TEST(DiffCounts, NamesOfOneTraceOnlyAreAddedOrDeleted) {
  TestTrace before, after;
  before.op("aten::mm", 0, 10);
  before.op("aten::mm", 20, 10);
  before.gpu({.name = "gemm", .ts = 5, .dur = 3}, 1);
  before.op("aten::add", 40, 1);
  after.op("aten::mm", 0, 10);
  after.gpu({.name = "gemm", .ts = 5, .dur = 5}, 1);
  after.gpu({.name = "aten::mm", .ts = 9, .dur = 4}, 2);  // a kernel of this name is not the op
  const Trace first = before.finish(), second = after.finish();
  const Table table = diff_counts(first, second);
  EXPECT_EQ(column(table, "name"),
            (std::vector<std::string>{"aten::mm", "aten::mm", "gemm", "aten::add"}));
  EXPECT_EQ(column(table, "device"), (std::vector<std::string>{"host", "GPU", "GPU", "host"}));
  EXPECT_EQ(column(table, "change"),
            (std::vector<std::string>{"decreased", "added", "unchanged", "deleted"}));
  EXPECT_EQ(column(table, "diff_counts"), (std::vector<std::string>{"-1", "1", "0", "-1"}));
  EXPECT_EQ(column(table, "diff_duration"),
            (std::vector<std::string>{"-10.0", "4.0", "2.0", "-1.0"}));
  EXPECT_EQ(column(table, "counts_change_categories"),
            (std::vector<std::string>{"-", "+", "=", "-"}));
}

}  // namespace
}  // namespace tracelens
