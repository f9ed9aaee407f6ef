#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <tracelens/error.hpp>
#include <tracelens/table.hpp>
#include <vector>

#include "io/check.hpp"

namespace tracelens {
namespace {

using testing::ElementsAre;

const ColumnSpec kColumns[] = {
    {"name", Kind::kText, "", "op name"},
    {"time", Kind::kReal, "ms", "busy time"},
    {"count", Kind::kInteger, "", "calls"},
};

Table three_ops() {
  Table table{"ops", "GPU time per op", kColumns};
  table.add_row("mm", 2.0, 1);
  table.add_row("add", kMissing, 2);
  table.add_row("mul", 5.0, 1);
  return table;
}

std::vector<std::string> names(const Table& table) {
  const auto texts = table.column("name").texts();
  return {texts.begin(), texts.end()};
}

TEST(Table, KeepsNamesAndTypedColumns) {
  const Table table = three_ops();
  EXPECT_EQ(table.name(), "ops");
  EXPECT_EQ(table.description(), "GPU time per op");
  EXPECT_EQ(table.rows(), 3u);
  EXPECT_EQ(table.columns().size(), 3u);
  EXPECT_EQ(table.column("time").spec().unit, "ms");
  EXPECT_THAT(names(table), ElementsAre("mm", "add", "mul"));
  EXPECT_THAT(table.column("count").integers(), ElementsAre(1, 2, 1));
}

TEST(Table, MissingCellReadsAsNaNZeroOrEmpty) {
  Table table{"t", "", kColumns};
  table.add_row(kMissing, kMissing, kMissing);
  EXPECT_EQ(table.column("name").texts()[0], "");
  EXPECT_TRUE(std::isnan(table.column("time").reals()[0]));
  EXPECT_EQ(table.column("count").integers()[0], 0);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(table.cell(0, i), Cell{kMissing});
}

TEST(Table, NaNAndNullCountAsMissing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const ColumnSpec columns[] = {{"r", Kind::kReal, "", ""}, {"n", Kind::kNested, "", ""}};
  Table table{"t", "", columns};
  table.add_row(nan, Value{nan});
  table.add_row(1.0, Value{});
  EXPECT_THAT(table.column("r").present(), ElementsAre(0, 1));
  EXPECT_THAT(table.column("n").present(), ElementsAre(0, 0));
}

TEST(Table, RealColumnTakesIntegersAndOptionals) {
  Table table{"t", "", kColumns};
  table.add_row(std::string{"a"}, 3, std::optional<std::int64_t>{});
  EXPECT_EQ(table.cell(0, 1), Cell{3.0});
  EXPECT_EQ(table.cell(0, 2), Cell{kMissing});
}

TEST(Table, NestedColumnTakesAnyCell) {
  const ColumnSpec columns[] = {{"n", Kind::kNested, "", ""}};
  Table table{"t", "", columns};
  table.add_row("text");
  table.add_row(7);
  table.add_row(true);
  table.add_row(Value::tuple({1}));
  EXPECT_THAT(table.column("n").nested(),
              ElementsAre(Value{"text"}, Value{7}, Value{true}, Value::tuple({1})));
}

TEST(Table, BoolCellsReadBackAsBool) {
  const ColumnSpec columns[] = {{"b", Kind::kBool, "", ""}};
  Table table{"t", "", columns};
  table.add_row(true);
  table.add_row(false);
  EXPECT_EQ(table.cell(0, 0), Cell{true});
  EXPECT_EQ(table.cell(1, 0), Cell{false});
}

TEST(Table, RowThatDoesNotFitIsOurMistakeAndAddsNothing) {
  Table table = three_ops();
  EXPECT_THROW(table.add_row("a", "2.0", 3), InternalError);
  EXPECT_THROW(table.add_row("a", 2.0, 3.0), InternalError);
  EXPECT_THROW(table.add_row("a", 2.0), InternalError);
  for (const Table::Column& column : table.columns()) EXPECT_EQ(column.size(), 3u);
}

TEST(Table, UnknownColumnIsAnErrorThatNamesTableAndColumn) {
  const Table table = three_ops();
  EXPECT_TRUE(table.has_column("time"));
  EXPECT_FALSE(table.has_column("tim"));
  try {
    (void)table.column("tim");
    FAIL() << "expected an Error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "ops: this table has no column 'tim'");
  }
}

TEST(TableSort, MissingCellsComeLastInBothOrders) {
  Table table = three_ops();
  table.sort_by("time", Order::kDescending);
  EXPECT_THAT(names(table), ElementsAre("mul", "mm", "add"));
  table.sort_by("time", Order::kAscending);
  EXPECT_THAT(names(table), ElementsAre("mm", "mul", "add"));
}

TEST(TableSort, TiesKeepTheirOrder) {
  Table table = three_ops();
  table.sort_by("count");
  EXPECT_THAT(names(table), ElementsAre("mm", "mul", "add"));
  table.sort_by("count", Order::kDescending);
  EXPECT_THAT(names(table), ElementsAre("add", "mm", "mul"));
}

TEST(TableSort, LaterKeysDecideTies) {
  Table table = three_ops();
  const SortKey keys[] = {{"count", Order::kAscending}, {"time", Order::kDescending}};
  table.sort_by(keys);
  EXPECT_THAT(names(table), ElementsAre("mul", "mm", "add"));
  EXPECT_THAT(table.column("count").integers(), ElementsAre(1, 1, 2));
  EXPECT_TRUE(table.column("time").is_missing(2));
}

TEST(TableSort, NestedCellsSortByTheirText) {
  const ColumnSpec columns[] = {{"dims", Kind::kNested, "", ""}};
  Table table{"t", "", columns};
  table.add_row(Value::tuple({8, 4}));
  table.add_row(kMissing);
  table.add_row(Value::tuple({2}));
  table.sort_by("dims");
  EXPECT_THAT(table.column("dims").nested(),
              ElementsAre(Value::tuple({2}), Value::tuple({8, 4}), Value{}));
}

TEST(TableSort, EmptyTableSorts) {
  Table table{"t", "", kColumns};
  table.sort_by("time");
  EXPECT_EQ(table.rows(), 0u);
}

TEST(Table, KeepFirstCutsEveryColumn) {
  Table table = three_ops();
  table.keep_first(5);
  EXPECT_EQ(table.rows(), 3u);
  table.keep_first(1);
  EXPECT_EQ(table.rows(), 1u);
  for (const Table::Column& column : table.columns()) EXPECT_EQ(column.size(), 1u);
  EXPECT_THAT(names(table), ElementsAre("mm"));
}

}  // namespace
}  // namespace tracelens
