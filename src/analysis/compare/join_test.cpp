#include "analysis/compare/join.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tracelens/error.hpp>

#include "analysis/kit/test_ops.hpp"

namespace tracelens {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Op {
  const char* name;
  std::int64_t count;
  double ms;
};

Table ops(std::initializer_list<Op> rows) {
  const ColumnSpec columns[] = {{"name", Kind::kText, "", ""},
                                {"Count", Kind::kInteger, "", ""},
                                {"ms", Kind::kReal, "ms", ""}};
  Table table{"ops", "", columns};
  for (const Op& op : rows) table.add_row(op.name, op.count, op.ms);
  return table;
}

std::vector<std::string> names(const Table& table) {
  std::vector<std::string> result;
  for (const Table::Column& each : table.columns()) result.push_back(each.spec().name);
  return result;
}

class TableJoinTest : public ::testing::Test {
 protected:
  TableJoin join(const Table& a, const Table& b, bool in_order = false) {
    return TableJoin{{{"a", &a, {}}, {"b", &b, {}}},
                     {.keys = {"name"}, .metrics = {"ms", "Count"}, .in_order = in_order},
                     notes_};
  }
  std::vector<std::string> notes_;
};

// A trace's parameters are nested values and its empty texts are texts; a file has neither.
TEST_F(TableJoinTest, ATraceIsJoinedWithItsOwnReportReadBack) {
  const ColumnSpec traced[] = {{"name", Kind::kNested, "", ""},
                               {"ms", Kind::kReal, "ms", ""},
                               {"Compute Spec", Kind::kText, "", ""}};
  const ColumnSpec stored[] = {{"name", Kind::kInteger, "", ""},
                               {"ms", Kind::kReal, "ms", ""},
                               {"Compute Spec", Kind::kText, "", ""}};
  Table a{"ops", "", traced}, b{"ops", "", stored};
  a.add_row(Value{std::int64_t{64}}, 1.0, "");
  a.add_row(Value{}, 2.0, "");
  b.add_row(64, 1.0, kMissing);
  b.add_row(kMissing, 2.0, kMissing);
  const TableJoin join{{{"a", &a, {}}, {"b", &b, {}}},
                       {.keys = {"name", "Compute Spec"}, .metrics = {"ms"}, .in_order = true},
                       notes_};
  const Table both = join.part(TableJoin::Part::kIntersect, 1, "ops", "ms");
  EXPECT_THAT(notes_, IsEmpty());
  EXPECT_THAT(column(both, "ms__b_diff"), ElementsAre("0.0", "0.0"));
  EXPECT_FALSE(both.has_column("Compute Spec"));
  const TableJoin values{{{"a", &a, {}}, {"b", &b, {}}},
                         {.keys = {"name"}, .metrics = {"ms"}, .in_order = true},
                         notes_};
  EXPECT_FALSE(
      values.part(TableJoin::Part::kIntersect, 1, "ops", "ms").has_column("a::Compute Spec"));
}

TEST_F(TableJoinTest, DifferencesStandBetweenKeysAndValues) {
  const Table a = ops({{"x", 2, 4.0}}), b = ops({{"x", 3, 5.0}});
  const Table all = join(a, b).all("ops", "ms");
  EXPECT_THAT(names(all), ElementsAre("name", "ms__b_diff", "ms__b_pct", "Count__b_diff",
                                      "Count__b_pct", "a::Count", "a::ms", "b::Count", "b::ms"));
  EXPECT_EQ(cell(all, "ms__b_diff", 0), "1.0");
  EXPECT_EQ(cell(all, "ms__b_pct", 0), "25.0");
  EXPECT_EQ(cell(all, "Count__b_diff", 0), "1");
}

TEST_F(TableJoinTest, RowsOfOneSideKeepBlanksAndMakeWholeNumbersReal) {
  const Table a = ops({{"x", 2, 4.0}, {"gone", 1, 9.0}}), b = ops({{"new", 7, 1.0}, {"x", 2, 4.0}});
  const Table all = join(a, b).all("ops", "ms");
  EXPECT_THAT(column(all, "name"), ElementsAre("gone", "x", "new"));  // by a::ms, blanks last
  EXPECT_THAT(column(all, "a::Count"), ElementsAre("1.0", "2.0", ""));
  EXPECT_THAT(column(all, "ms__b_diff"), ElementsAre("", "0.0", ""));
}

TEST_F(TableJoinTest, PercentOfNothingIsBlank) {
  const Table a = ops({{"x", 0, 0.0}}), b = ops({{"x", 1, 1.0}});
  EXPECT_EQ(cell(join(a, b).all("ops", "ms"), "ms__b_pct", 0), "");
}

TEST_F(TableJoinTest, EqualKeysMeetEveryOtherOrInOrder) {
  const Table a = ops({{"x", 1, 1.0}, {"x", 2, 2.0}}), b = ops({{"x", 1, 1.0}, {"x", 2, 2.0}});
  EXPECT_EQ(join(a, b).all("ops", "").rows(), 4U);
  const Table in_order = join(a, b, true).all("ops", "");
  EXPECT_THAT(column(in_order, "ms__b_diff"), ElementsAre("0.0", "0.0"));
}

TEST_F(TableJoinTest, PartsDropColumnsThatAreBlankThroughout) {
  const Table a = ops({{"x", 1, 1.0}, {"gone", 1, 1.0}}), b = ops({{"x", 1, 2.0}});
  const TableJoin both = join(a, b);
  using Part = TableJoin::Part;
  EXPECT_THAT(column(both.part(Part::kIntersect, 1, "i", "ms"), "name"), ElementsAre("x"));
  EXPECT_THAT(names(both.part(Part::kOnlyBaseline, 1, "o", "ms")),
              ElementsAre("name", "a::Count", "a::ms"));
  EXPECT_THAT(names(both.part(Part::kOnlyVariant, 1, "v", "ms")), IsEmpty());
}

TEST_F(TableJoinTest, AMetricThatOneSideLacksIsLeftOutWithANote) {
  const ColumnSpec columns[] = {{"name", Kind::kText, "", ""}, {"ms", Kind::kReal, "", ""}};
  Table b{"ops", "", columns};
  b.add_row("x", 1.0);
  const Table a = ops({{"x", 1, 1.0}});
  EXPECT_THAT(join(a, b).metrics(), ElementsAre("ms"));
  EXPECT_THAT(notes_, SizeIs(1));
}

TEST_F(TableJoinTest, NumbersAndTextMeetAsTextWithANote) {
  const ColumnSpec number[] = {{"name", Kind::kReal, "", ""}, {"ms", Kind::kReal, "", ""}};
  Table a{"ops", "", number};
  a.add_row(8.0, 1.0);
  const ColumnSpec text[] = {{"name", Kind::kText, "", ""}, {"ms", Kind::kReal, "", ""}};
  Table b{"ops", "", text};
  b.add_row("8", 1.0);
  b.add_row("eight", 1.0);
  EXPECT_EQ(join(a, b).all("ops", "").rows(), 2U);
  EXPECT_THAT(notes_, SizeIs(2));  // and Count is missing
}

// One report has as text what another one has as numbers.
TEST_F(TableJoinTest, NumbersMeetTextsThatAreNumbers) {
  const auto reals = [](std::initializer_list<double> keys) {
    const ColumnSpec columns[] = {{"name", Kind::kReal, "", ""}, {"ms", Kind::kReal, "", ""}};
    Table table{"ops", "", columns};
    for (const double key : keys) table.add_row(key, 1.0);
    return table;
  };
  const ColumnSpec text[] = {{"name", Kind::kText, "", ""}, {"ms", Kind::kReal, "", ""}};
  Table b{"ops", "", text};
  for (const char* key : {"10", "0.0", "1e3", "0.25"}) b.add_row(key, 1.0);
  const Table a = reals({0, 0.25, 10, 1000});
  for (const Table& all : {join(a, b).all("ops", ""), join(b, a).all("ops", "")}) {
    ASSERT_EQ(all.rows(), 4U);
    EXPECT_EQ(cell(all, "name", 0), "0.0");
    EXPECT_EQ(cell(all, "name", 3), "1000.0");
    EXPECT_EQ(cell(all, "ms__b_diff", 3), "0.0");
  }
  EXPECT_THAT(notes_, SizeIs(2));  // Count is missing, twice
}

// Every pair of them would be many millions.
TEST_F(TableJoinTest, ThousandsOfEqualKeysMeetInOrder) {
  const auto equal_ops = [](std::int64_t count) {
    Table table = ops({});
    for (std::int64_t i = 0; i < count; ++i) table.add_row("x", i, 1.0);
    return table;
  };
  const Table a = equal_ops(3000), b = equal_ops(3001);
  const Table all = join(a, b, true).all("ops", "");
  ASSERT_EQ(all.rows(), 3001U);
  EXPECT_EQ(cell(all, "Count__b_diff", 2999), "0.0");
  EXPECT_EQ(cell(all, "a::Count", 3000), "");
  EXPECT_EQ(cell(all, "b::Count", 3000), "3000");
}

TEST_F(TableJoinTest, MillionsOfPairsAreRefused) {
  Table a = ops({}), b = ops({});
  for (int i = 0; i < 3000; ++i) a.add_row("x", 1, 1.0), b.add_row("x", 1, 1.0);
  EXPECT_THROW(static_cast<void>(join(a, b)), Error);
}

}  // namespace
}  // namespace tracelens
