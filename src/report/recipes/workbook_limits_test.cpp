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

TEST(WorkbookLimits, CellsThatWillBeCutAreTold) {
  const ColumnSpec columns[] = {{"name", Kind::kText, "", ""}, {"dims", Kind::kNested, "", ""}};
  Table table{"ops", "", columns};
  table.add_row("µµµµ", Value::tuple({1, 2}));
  table.add_row("aaaaa", Value::tuple({1, 2, 3}));
  table.add_row("bbbbbb", Value::tuple({}));
  Report report;
  report.tables = {std::move(table)};
  leave_out_what_excel_cannot_hold(report, {.text = 4});
  EXPECT_EQ(report.tables.size(), 1u);
  EXPECT_THAT(
      report.warnings,
      ElementsAre("ops: 2 texts of column name are longer than the 4 characters a cell of a "
                  "workbook holds, and cut there; write to a folder to get all of it",
                  "ops: 2 texts of column dims are longer than the 4 characters a cell of a "
                  "workbook holds, and cut there; write to a folder to get all of it"));
}

}  // namespace
}  // namespace tracelens
