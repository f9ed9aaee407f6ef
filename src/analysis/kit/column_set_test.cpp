#include "analysis/kit/column_set.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/kit/test_ops.hpp"

namespace tracelens {
namespace {

using testing::ElementsAre;

struct Row {
  std::string name = {};
  std::int64_t busy_ns = 0;
  GroupStats calls = {};
  RunningShare::Cells share = {};
  Value list = {};
  [[nodiscard]] double busy_us() const { return us(busy_ns); }
};

std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  for (const Table::Column& column : table.columns()) names.push_back(column.spec().name);
  return names;
}

TEST(ColumnSet, FillsCellsFromMembersMethodsAndFunctions) {
  const double unit = 1e6;
  ColumnSet<Row> columns{
      {{"name", Kind::kText, "", ""}, &Row::name},
      {{"us", Kind::kReal, "µs", ""}, &Row::busy_us},
      {{"ms", Kind::kReal, "ms", ""},
       [&unit](const Row& row) { return static_cast<double>(row.busy_ns) / unit; }},
      {{"list", Kind::kNested, "", ""}, [](Row& row) { return std::move(row.list); }}};
  Table table = columns.make_table("t", "a table");
  columns.append(table, Row{.name = "a", .busy_ns = 1500, .list = Value::list({1, 2})});
  Row second{.name = "b"};
  columns.append(table, second);
  EXPECT_EQ(table.description(), "a table");
  EXPECT_THAT(column(table, "name"), ElementsAre("a", "b"));
  EXPECT_THAT(column(table, "us"), ElementsAre("1.5", "0.0"));
  EXPECT_THAT(column(table, "ms"), ElementsAre("0.0015", "0.0"));
  EXPECT_THAT(column(table, "list"), ElementsAre("[1, 2]", ""));
}

TEST(ColumnSet, AColumnWhoseConditionDoesNotHoldIsNotThere) {
  ColumnSet<Row> columns{{{"a", Kind::kText, "", ""}, &Row::name, false},
                         {{"b", Kind::kText, "", ""}, &Row::name, true}};
  columns.add({"c", Kind::kText, "", ""}, &Row::name, false);
  columns.add({{{"d", Kind::kText, "", ""}, &Row::name}});
  EXPECT_THAT(names_of(columns.make_table("t", "")), ElementsAre("b", "d"));
}

TEST(ColumnSet, StatisticsAndRunningSharesAreColumnsToo) {
  ColumnSet<Row> columns;
  add_stat_columns(columns, &Row::calls, kAllStats, "time", "µs", " of the time");
  add_share_columns(columns, "time");
  Table table = columns.make_table("t", "");
  EXPECT_THAT(names_of(table),
              ElementsAre("time_mean", "time_median", "time_std", "time_min", "time_max",
                          "Percentage (%)", "Cumulative Percentage (%)"));
  EXPECT_EQ(table.column("time_std").spec().description, "std of the time");
  RunningShare share{10};
  for (const double part : {6.0, 4.0}) {
    std::vector<double> values{part, part + 2};
    columns.append(table, Row{.calls = stats_of(values), .share = share.next(part)});
  }
  EXPECT_THAT(column(table, "time_mean"), ElementsAre("7.0", "5.0"));
  EXPECT_THAT(column(table, "time_max"), ElementsAre("8.0", "6.0"));
  EXPECT_THAT(column(table, "Percentage (%)"), ElementsAre("60.0", "40.0"));
  EXPECT_THAT(column(table, "Cumulative Percentage (%)"), ElementsAre("60.0", "100.0"));
}

}  // namespace
}  // namespace tracelens
