#include "analysis/compare/times.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  EXPECT_THAT(columns, ElementsAre("name", "x::1", "y::2", "difference", "change %", "only in"));
  EXPECT_EQ(table.cell(0, 3), Cell{5.0});
  EXPECT_EQ(table.cell(0, 4), Cell{50.0});
  EXPECT_EQ(table.cell(0, 5), Cell{kMissing});
  EXPECT_EQ(table.cell(1, 2), Cell{kMissing});
  EXPECT_EQ(table.cell(1, 3), Cell{-1.0});
  EXPECT_EQ(table.cell(1, 5), Cell{std::string{"x::1"}});
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
