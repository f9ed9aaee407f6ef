#include "analysis/diff/summary.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <tracelens/table_text.hpp>
#include <vector>

namespace tracelens {
namespace {

struct Row {
  const char* kernel = "gemm";
  const char* op = "aten::mm";
  const char* source = "trace1";
  double us = 1;
  std::optional<std::string> ancestor = "aten::linear";
  const char* module = "root";
};

Table stats_of(const std::vector<Row>& rows) {
  const ColumnSpec columns[] = {{"name", Kind::kText, "", ""},
                                {"cpu_op_name", Kind::kText, "", ""},
                                {"source", Kind::kText, "", ""},
                                {"kernel_time", Kind::kReal, "", ""},
                                {"lowest_common_ancestor_name", Kind::kText, "", ""},
                                {"lowest_common_ancestor_id", Kind::kInteger, "", ""},
                                {"gpu_op_uid", Kind::kInteger, "", ""},
                                {"nn_module_parent", Kind::kText, "", ""}};
  Table table{"diff_stats", "", columns};
  for (std::int64_t i = 0; const Row& row : rows)
    table.add_row(row.kernel, row.op, row.source, row.us, row.ancestor, 7, i++, row.module);
  return table;
}

std::vector<std::string> column(const Table& table, std::string_view name) {
  std::vector<std::string> texts;
  for (std::size_t row = 0; row < table.rows(); ++row)
    texts.push_back(plain_text(table.column(name), row));
  return texts;
}

using Texts = std::vector<std::string>;

TEST(DiffSummary, RowsAlikeInAllButTimeAndNumbersAreOneGroup) {
  const Table table = summarize_diff(stats_of({{.us = 1},
                                               {.us = 5, .module = "nn.Module: Linear_0"},
                                               {.us = 2},
                                               {.source = "trace2", .us = 4}}))
                          .table;
  EXPECT_EQ(column(table, "kernel_time_sum"), (Texts{"5.0", "4.0", "3.0"}));
  EXPECT_EQ(column(table, "operation_count"), (Texts{"1", "1", "2"}));
  EXPECT_EQ(column(table, "kernel_time_mean"), (Texts{"5.0", "4.0", "1.5"}));
  EXPECT_EQ(column(table, "nn_module_parent"), (Texts{"nn.Module:Linear_0", "root", "root"}));
}

TEST(DiffSummary, GroupsOfEqualTimeAreInTheOrderOfTheirTextAndCountsAreText) {
  std::vector<Row> rows(2, {.us = 5, .module = "a"});
  rows.resize(12, {.us = 1, .module = "b"});
  rows.push_back({.kernel = "a first", .us = 10});
  const Table table = summarize_diff(stats_of(rows)).table;
  EXPECT_EQ(column(table, "name"), (Texts{"a first", "gemm", "gemm"}));
  EXPECT_EQ(column(table, "operation_count"), (Texts{"1", "10", "2"}));
}

TEST(DiffSummary, WhatIsMissingStandsAtNan) {
  const Table table =
      summarize_diff(
          stats_of({{.ancestor = "zebra"}, {.ancestor = std::nullopt}, {.ancestor = "apple"}}))
          .table;
  EXPECT_EQ(column(table, "lowest_common_ancestor_name"), (Texts{"apple", "", "zebra"}));
}

TEST(DiffSummary, OpsOfOneModuleBelowOnePointGetItsName) {
  const std::vector<Row> rows = {
      {.op = "aten::conv", .module = "nn.Module: Conv2d_0"},
      {.op = "aten::miopen", .source = "trace2", .us = 2, .module = "nn.Module: Conv2d_0"}};
  const DiffSummary one = summarize_diff(stats_of(rows));
  EXPECT_EQ(column(one.table, "cpu_op_name"), (Texts{"nn.Module:Conv2d_0", "nn.Module:Conv2d_0"}));
  ASSERT_EQ(one.notes.size(), 1u);
  EXPECT_EQ(one.notes[0], "Renaming: aten::conv, aten::miopen to nn.Module:Conv2d_0");

  std::vector<Row> two = rows;
  two.push_back({.op = "aten::miopen", .source = "trace2", .module = "nn.Module: Conv2d_1"});
  const DiffSummary several = summarize_diff(stats_of(two));
  EXPECT_EQ(column(several.table, "cpu_op_name"),
            (Texts{"aten::miopen", "aten::conv", "aten::miopen"}));
}

}  // namespace
}  // namespace tracelens
