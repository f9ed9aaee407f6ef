#include "report/recipes/folded_columns.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tracelens {
namespace {

Table table_of(std::string name, std::vector<std::string> names, std::size_t columns) {
  while (names.size() < columns) names.push_back("x" + std::to_string(names.size()));
  std::vector<ColumnSpec> specs;
  for (const std::string& each : names) specs.push_back({each, Kind::kReal, "", ""});
  return Table{name, "", specs};
}

TEST(FoldedColumns, AWideSheetOpensWithWhatMatters) {
  const Table table =
      table_of("GEMM",
               {"name", "param: M", "param: stride_A", "name_count", "Kernel Time (µs)_sum",
                "Kernel Time (µs)_std", "Pct Roofline_mean"},
               40);
  for (const char* column : {"name", "param: M", "name_count", "Kernel Time (µs)_sum"})
    EXPECT_FALSE(is_folded_in_report(table, column)) << column;
  for (const char* column : {"param: stride_A", "Kernel Time (µs)_std", "x20"})
    EXPECT_TRUE(is_folded_in_report(table, column)) << column;
}

TEST(FoldedColumns, TablesThatFitAndThoseOfOthersAreOpen) {
  EXPECT_FALSE(is_folded_in_report(
      table_of("GEMM", {"name", "op category", "Percentage (%)", "operation_count"}, 12), "x8"));
  EXPECT_FALSE(is_folded_in_report(table_of("mine", {"name"}, 60), "x8"));
}

}  // namespace
}  // namespace tracelens
