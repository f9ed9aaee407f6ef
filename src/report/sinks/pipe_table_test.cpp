#include "report/sinks/pipe_table.hpp"

#include <gtest/gtest.h>

namespace tracelens {
namespace {

TEST(PipeTable, NumbersStandToTheRightWithSixDigits) {
  const ColumnSpec columns[] = {{"name", Kind::kText, "", ""}, {"ms", Kind::kReal, "", ""}};
  Table table{"t", "", columns};
  table.add_row(" gemm ", 1234.56789);
  table.add_row("x", kMissing);
  EXPECT_EQ(pipe_table(table, 9),
            "| name |      ms |\n"
            "|:-----|--------:|\n"
            "| gemm | 1234.57 |\n"
            "| x    |         |\n");
}

TEST(PipeTable, ShowsTheRowsAskedForAndNothingWithoutColumns) {
  const ColumnSpec columns[] = {{"n", Kind::kInteger, "", ""}};
  Table table{"t", "", columns};
  table.add_row(1);
  table.add_row(2);
  EXPECT_EQ(pipe_table(table, 1), "|   n |\n|----:|\n|   1 |\n");
  EXPECT_EQ(pipe_table(Table{"t", "", {}}, 1), "");
}

}  // namespace
}  // namespace tracelens
