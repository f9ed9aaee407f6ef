#include "analysis/tables/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tracelens/error.hpp>
#include <tracelens/read_trace.hpp>

namespace tracelens {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr TraceKind kKinds[] = {TraceKind::kPyTorch, TraceKind::kJax, TraceKind::kRocmTimeline,
                                TraceKind::kRocprof};

const Trace& training_step() {
  static const Trace trace = read_trace("tests/data/h200_gpt_train_amp.json.gz");
  return trace;
}

std::vector<std::string> names(const std::vector<Table>& tables) {
  std::vector<std::string> found;
  for (const Table& table : tables) found.push_back(table.name());
  return found;
}

std::vector<std::string> selected(TraceKind kind, const ReportOptions& options) {
  const Selection selection{kind, options};
  std::vector<std::string> found;
  for (const TableInfo* const table : selection.rows()) found.emplace_back(table->name);
  return found;
}

TEST(TableRegistry, EveryTableExplainsItselfAndStandsOnceInAReport) {
  for (const TraceKind kind : kKinds) {
    std::set<std::string_view> seen;
    for (const TableInfo& table : tables_of(kind)) {
      EXPECT_TRUE(seen.insert(table.name).second) << table.name;
      EXPECT_FALSE(table.description.empty()) << table.name;
      EXPECT_EQ(table.make == nullptr, table.name == "warnings") << table.name;
      EXPECT_EQ(table.screen.rows == 0, table.screen.place == 0) << table.name;
    }
  }
}

TEST(TableRegistry, ATableThatIsMadeOnRequestHasAFlagThatAsksForIt) {
  for (const TraceKind kind : kKinds)
    for (const TableInfo& table : tables_of(kind)) {
      if (table.on != Default::kOff) continue;
      EXPECT_TRUE(std::ranges::any_of(table_flags(), [&](const TableFlag& flag) {
        return flag.group == table.group;
      })) << table.name;
      const std::vector<std::string> asked = selected(kind, {.also = {std::string{table.group}}});
      EXPECT_THAT(asked, testing::Contains(std::string{table.name}));
      EXPECT_THAT(selected(kind, {}), testing::Not(testing::Contains(std::string{table.name})));
    }
}

TEST(TableRegistry, OneProducerOfSeveralTablesStandsInOnePlace) {
  for (const TraceKind kind : kKinds) {
    std::vector<void*> left;
    void* last = nullptr;
    for (const TableInfo& table : tables_of(kind)) {
      void* const make = reinterpret_cast<void*>(table.make);
      if (make == last) continue;
      EXPECT_THAT(left, testing::Not(testing::Contains(make))) << table.name;
      left.push_back(make);
      last = make;
    }
  }
}

TEST(Selection, ExactlyTheTablesAskedForAreMade) {
  EXPECT_THAT(
      names(make_report(training_step(), {.tables = {"ops_summary", "gpu_timeline"}}).tables),
      ElementsAre("gpu_timeline", "ops_summary"));
  EXPECT_THAT(names(make_report(training_step(), {.tables = {"idle"}}).tables),
              ElementsAre("gpu_idle", "gpu_idle_host"));
  EXPECT_THAT(names(make_report(training_step(), {.tables = {"SDPA_fwd"}}).tables),
              ElementsAre("SDPA_fwd"));
}

TEST(Selection, ATableAskedForByNameIsTheSameAsInTheWholeReport) {
  const Report whole = make_report(training_step());
  for (const char* const name : {"kernel_summary", "unified_perf_summary", "gpu_idle_host"}) {
    const Report one = make_report(training_step(), {.tables = {name}});
    ASSERT_EQ(names(one.tables), std::vector<std::string>{name});
    const Table *a = whole.find(name), *b = one.find(name);
    ASSERT_EQ(a->rows(), b->rows());
    for (std::size_t row = 0; row < a->rows(); ++row)
      for (std::size_t column = 0; column < a->columns().size(); ++column)
        EXPECT_EQ(a->cell(row, column), b->cell(row, column)) << name << ' ' << row;
  }
}

TEST(Selection, WhatATraceCannotGiveIsSaid) {
  const Report report = make_report(training_step(), {.tables = {"jax_steps", "coll_analysis"}});
  EXPECT_THAT(
      report.warnings,
      ElementsAre("jax_steps: not a table of this kind of trace",
                  "coll_analysis: this trace gives no such table; it needs ops, collectives"));
}

TEST(Selection, AnUnknownNameIsAnError) {
  try {
    check_options({.tables = {"gpu_timelime"}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("gpu_timelime: no such table"));
  }
}

TEST(Selection, WithoutLeavesOutWholeGroups) {
  const std::vector<std::string> left =
      selected(TraceKind::kPyTorch, {.without = {"idle", "short-kernels"}});
  for (const char* const name : {"gpu_idle", "gpu_idle_host", "short_kernels_summary"})
    EXPECT_THAT(left, testing::Not(testing::Contains(std::string{name})));
  EXPECT_THAT(left, testing::Contains(std::string{"kernel_summary"}));
}

TEST(Excerpts, TheColumnsThatMatterAreColumnsOfTheTable) {
  const Report report = make_report(training_step());
  for (const Table& table : report.tables)
    for (const std::string_view column : excerpt_of(table).columns) {
      const bool on_request = column == "is_recompute" || column == "num_kernels" ||
                              column.starts_with("overlap") ||
                              column == "device";  // only where there are several
      EXPECT_TRUE(on_request || table.has_column(column)) << table.name() << ": " << column;
    }
}

TEST(Excerpts, OfSeveralLayoutsOfATableTheFittingOneIsTaken) {
  const ColumnSpec columns[] = {{"name", Kind::kText, "", ""},
                                {"Total Kernel Time (ms)", Kind::kReal, "ms", ""}};
  EXPECT_EQ(excerpt_of(Table{"kernel_summary", "", columns}).columns[1], "Total Kernel Time (ms)");
  EXPECT_THAT(excerpt_of(Table{"one of your own", "", columns}).columns, testing::IsEmpty());
}

TEST(Excerpts, PhasesThatDoNotOccurTakeNoRoom) {
  const ColumnSpec columns[] = {{"op category", Kind::kText, "", ""},
                                {"all ms", Kind::kReal, "ms", ""},
                                {"prefill ms", Kind::kReal, "ms", ""},
                                {"decode ms", Kind::kReal, "ms", ""}};
  Table table{"serving_ops_by_phase", "", columns};
  table.add_row("GEMM", 2.0, std::optional<double>{}, 2.0);
  const std::vector<std::string_view> shown = excerpt_of(table).columns;
  EXPECT_EQ(shown[1], "all ms");
  EXPECT_THAT(shown, testing::Not(testing::Contains(std::string_view{"prefill ms"})));
  EXPECT_THAT(shown, testing::Contains(std::string_view{"decode ms"}));
}

TEST(Excerpts, AVerbOfSeveralTracesHasItsOwn) {
  Report report;
  const ColumnSpec columns[] = {{"type", Kind::kText, "", ""}};
  report.tables = {Table{"gpu_timeline", "", columns}, Table{"ops_diff", "", {}}};
  EXPECT_EQ(first_tables(report, "diff").front().table, "ops_diff");
  EXPECT_EQ(first_tables(report, "diff").back().rows, 15);
  EXPECT_EQ(excerpt_of(report.tables.front()).rows, 20);
}

TEST(CompareRules, StandInTheOrderOfTheGroups) {
  const auto rules = compare_rules();
  EXPECT_EQ(rules.front().sheet, "gpu_timeline");
  EXPECT_EQ(rules.back().group, "roofline");
  EXPECT_TRUE(std::ranges::any_of(rules, [](const CompareRule& rule) {
    return rule.sheet == "hlo_ops" && rule.edition == Edition::kExtended;
  }));
}

}  // namespace
}  // namespace tracelens
