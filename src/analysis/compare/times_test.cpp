#include "analysis/compare/times.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>
#include <utility>

namespace tracelens {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using Times = std::vector<std::pair<const char*, double>>;

Table timeline(const Times& rows) {
  const ColumnSpec columns[] = {{"type", Kind::kText, "", ""}, {"time ms", Kind::kReal, "ms", ""}};
  Table table{"gpu_timeline", "", columns};
  for (const auto& [name, ms] : rows) table.add_row(name, ms);
  return table;
}

ComparedReport report(const std::string& tag, const Times& ops) {
  const ColumnSpec columns[] = {{"name", Kind::kText, "", ""},
                                {"total_direct_kernel_time_ms", Kind::kReal, "ms", ""}};
  Table table{"ops_summary", "", columns};
  for (const auto& [name, ms] : ops) table.add_row(name, ms);
  return {.tag = tag, .path = tag, .tables = {std::move(table)}};
}

std::vector<std::string> names(const TimedSheet& sheet) {
  std::vector<std::string> result;
  for (const TimedRow& row : sheet.rows) result.push_back(row.name);
  return result;
}

TEST(TimedSheet, TheLargestDifferenceStandsOnTopWhateverItsSign) {
  const ComparedReport reports[] = {report("a", {{"mm", 10}, {"add", 5}, {"relu", 1}}),
                                    report("b", {{"mm", 11}, {"add", 2}, {"gelu", 1.5}})};
  EXPECT_THAT(names(*timed_sheet(reports, "ops_summary")),
              ElementsAre("add", "gelu", "mm", "relu"));
}

TEST(TimedSheet, GpusAddUpWithoutTheirMean) {
  const ColumnSpec columns[] = {{"GPU ID", Kind::kNested, "", ""},
                                {"Category", Kind::kText, "", ""},
                                {"Total runtime (ms)", Kind::kReal, "ms", ""}};
  Table table{"category_summary", "", columns};
  table.add_row(Value{0}, "gemm", 2.0);
  table.add_row(Value{1}, "gemm", 4.0);
  table.add_row(Value{"Avg"}, "gemm", 3.0);
  const ComparedReport reports[] = {{.tag = "a", .path = "a", .tables = {table}},
                                    {.tag = "b", .path = "b", .tables = {table}}};
  const auto sheet = timed_sheet(reports, "category_summary");
  ASSERT_TRUE(sheet);
  ASSERT_EQ(sheet->rows.size(), 1U);
  EXPECT_EQ(sheet->rows[0].ms[0], 6.0);
}

TEST(TimedSheet, NeedsEveryReport) {
  const ComparedReport reports[] = {report("a", {{"mm", 10}}), {.tag = "b"}};
  EXPECT_FALSE(timed_sheet(reports, "ops_summary"));
}

TEST(KeyTable, ShowsBeforeAfterDifferencePercentAndWhoHasARow) {
  const ComparedReport reports[] = {report("x::1", {{"mm", 10}, {"relu", 1}}),
                                    report("y::2", {{"mm", 15}})};
  const Table table = key_table(*timed_sheet(reports, "ops_summary"), reports);
  std::vector<std::string> columns;
  for (const Table::Column& column : table.columns()) columns.push_back(column.spec().name);
  EXPECT_THAT(columns, ElementsAre("name", "x::1", "y::2", "difference", "change", "note"));
  EXPECT_EQ(table.cell(0, 3), Cell{5.0});
  EXPECT_EQ(table.cell(0, 4), Cell{50.0});
  EXPECT_EQ(table.cell(0, 5), Cell{kMissing});
  EXPECT_EQ(table.cell(1, 2), Cell{kMissing});
  EXPECT_EQ(table.cell(1, 3), Cell{-1.0});
  EXPECT_EQ(table.cell(1, 5), Cell{std::string{"only in x::1"}});
}

TEST(KeyTable, LeavesOutWhatTookNoTimeAnywhere) {
  const ComparedReport reports[] = {report("a", {{"mm", 10}, {"idle", 0}}),
                                    report("b", {{"mm", 15}, {"idle", 0}})};
  EXPECT_EQ(key_table(*timed_sheet(reports, "ops_summary"), reports).rows(), 1U);
}

// A report whose ops have a category.
ComparedReport categorized(const std::string& tag,
                           const std::vector<std::tuple<const char*, const char*, double>>& ops) {
  const ColumnSpec columns[] = {{"name", Kind::kText, "", ""},
                                {"total_direct_kernel_time_ms", Kind::kReal, "ms", ""},
                                {"Categories", Kind::kText, "", ""}};
  Table table{"ops_summary", "", columns};
  for (const auto& [name, category, ms] : ops) table.add_row(name, ms, category);
  return {.tag = tag, .path = tag, .tables = {std::move(table)}};
}

TEST(ExplainChange, AnOpReplacedByOneOfItsCategoryIsOneChange) {
  const ComparedReport reports[] = {
      categorized("a", {{"mm", "GEMM", 10}, {"efficient", "SDPA", 8}, {"adam", "Optimizer", 1}}),
      categorized("b", {{"mm", "GEMM", 10}, {"flash", "SDPA", 2}, {"adamw", "Optimizer", 3}})};
  const auto changes = explain_change(reports);
  ASSERT_TRUE(changes);
  EXPECT_THAT(names(*changes), ElementsAre("efficient → flash", "adam → adamw", "mm"));
  EXPECT_EQ(changes->rows[0].ms[0], 8.0);
  EXPECT_EQ(changes->rows[0].ms[1], 2.0);
  EXPECT_EQ(changes->rows[0].note, "replaced");
}

TEST(ExplainChange, WhatElseOnlyOneReportHasIsPutTogether) {
  const ComparedReport reports[] = {
      categorized("a",
                  {{"bmm", "GEMM", 8}, {"softmax", "Softmax", 3}, {"where", "elementwise", 4}}),
      categorized("b", {{"flash", "SDPA", 2}})};
  const auto changes = explain_change(reports);
  ASSERT_TRUE(changes);
  EXPECT_THAT(names(*changes), ElementsAre("bmm + where + 1 more → flash"));
  EXPECT_EQ(changes->rows[0].difference(1), 2.0 - 15.0);
  EXPECT_THAT(conclusion(reports), Not(HasSubstr("regression")));
}

TEST(ExplainChange, WhatOnlyWentOrOnlyCameIsNoExchange) {
  const ComparedReport reports[] = {categorized("a", {{"mm", "GEMM", 8}, {"copy_", "copies", 3}}),
                                    categorized("b", {{"mm", "GEMM", 8}})};
  const auto changes = explain_change(reports);
  ASSERT_TRUE(changes);
  EXPECT_THAT(names(*changes), ElementsAre("copy_", "mm"));
  EXPECT_TRUE(changes->rows[0].note.empty());
}

TEST(Conclusion, LeadsWithTheTotalAndThePartsThatChanged) {
  ComparedReport reports[] = {report("a", {{"mm", 90}}), report("b", {{"mm", 30}})};
  reports[0].tables.push_back(timeline(
      {{"computation_time", 90}, {"busy_time", 90}, {"idle_time", 10}, {"total_time", 100}}));
  reports[1].tables.push_back(timeline(
      {{"computation_time", 30}, {"busy_time", 30}, {"idle_time", 30}, {"total_time", 60}}));
  EXPECT_EQ(conclusion(reports),
            "b against a: 100.000 ms became 60.000 ms (-40.000 ms, -40.0%): computation -60.000 "
            "ms, idle time +20.000 ms. The GPU is busy 50.0% of the time, before 90.0%.\n"
            "Largest improvement: op 'mm', 90.000 to 30.000 ms (-60.000 ms, -66.7%).\n");
}

TEST(Conclusion, NamesTheLargestRegressionAndImprovement) {
  const ComparedReport reports[] = {report("a", {{"mm", 10}, {"add", 5}, {"relu", 1}}),
                                    report("b", {{"mm", 12}, {"add", 4.9}, {"relu", 0.5}})};
  EXPECT_EQ(conclusion(reports),
            "b against a: largest regression: op 'mm', 10.000 to 12.000 ms (+2.000 ms, +20.0%); "
            "largest improvement: op 'relu', 1.000 to 0.500 ms (-0.500 ms, -50.0%).\n");
}

TEST(Conclusion, WhatTwoRecordingsDifferByAnywayIsNoChange) {
  const ComparedReport reports[] = {report("a", {{"mm", 100}, {"tiny", 0.001}}),
                                    report("b", {{"mm", 101}, {"tiny", 0.002}}),
                                    report("c", {{"mm", 100}, {"tiny", 0.001}})};
  EXPECT_THAT(conclusion(reports), HasSubstr("b against a: no op changed by more than 2%"));
  EXPECT_THAT(conclusion(reports), HasSubstr("c against a: every op took exactly the same time"));
  EXPECT_THAT(conclusion(reports), Not(HasSubstr("regression")));
}

TEST(Conclusion, SaysWhatOnlyOneReportHas) {
  const ComparedReport reports[] = {report("a", {{"mm", 10}}),
                                    report("b", {{"mm", 10}, {"gelu", 3}})};
  EXPECT_THAT(conclusion(reports), HasSubstr("op 'gelu', only in b: 3.000 ms"));
}

TEST(UnifyTimelines, IdleTimeHasOneNameOnlyWhereFormatsAreMixed) {
  const auto reports = [](const char* first, const char* second) {
    return std::vector<ComparedReport>{{.tag = "a", .tables = {timeline({{first, 4}})}},
                                       {.tag = "b", .tables = {timeline({{second, 5}})}}};
  };
  std::vector<ComparedReport> mixed = reports("idle", "idle_time"), equal = reports("idle", "idle");
  unify_timelines(mixed);
  unify_timelines(equal);
  EXPECT_THAT(names(*timed_sheet(mixed, "gpu_timeline")), ElementsAre("idle_time"));
  EXPECT_THAT(names(*timed_sheet(equal, "gpu_timeline")), ElementsAre("idle"));
}

}  // namespace
}  // namespace tracelens
