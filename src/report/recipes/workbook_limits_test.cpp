#include <tracelens/report.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracelens {
namespace {

using testing::ElementsAre;

Table table_of(std::string name, int rows, int columns) {
  std::vector<ColumnSpec> specs;
  for (int i = 0; i < columns; ++i)
    specs.push_back(
        {.name = std::to_string(i), .kind = Kind::kBool, .unit = "", .description = ""});
  Table table{std::move(name), "", specs};
  for (int i = 0; i < rows; ++i) {
    std::vector<Cell> cells(specs.size(), Cell{true});
    table.append(cells);
  }
  return table;
}

TEST(WorkbookLimits, ATableBeyondThemIsLeftOutWithAWarning) {
  Report report;
  report.tables = {table_of("fits", 3, 2), table_of("long", 4, 2), table_of("wide", 3, 3)};
  leave_out_what_excel_cannot_hold(report, {.rows = 3, .columns = 2});
  ASSERT_EQ(report.tables.size(), 1u);
  EXPECT_EQ(report.tables.front().name(), "fits");
  EXPECT_THAT(
      report.warnings,
      ElementsAre(
          "long: 4 rows and 2 columns are more than a workbook holds; write to a folder to get it",
          "wide: 3 rows and 3 columns are more than a workbook holds; write to a folder to get "
          "it"));
}

}  // namespace
}  // namespace tracelens
