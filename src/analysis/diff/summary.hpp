// summary.hpp: the rows of diff_stats grouped, and which ops of two traces are the same by
// another name.
//   DiffSummary summary = summarize_diff(diff_stats, {.identical = stats.is_identical});
//   summary.table            // diff_stats_unique_args_summary, with unified op names
//   summary.op_map           // cpu_op_map.json
#pragma once

#include <string>
#include <tracelens/edition.hpp>
#include <tracelens/table.hpp>
#include <vector>

namespace tracelens {

struct DiffSummaryOptions {
  bool identical = false;  // the table has no column `source`, and the map no level for it
  // Ops that differ in everything but their module get its name. Reference: "root", which every op
  // without a module has, counts as one.
  Edition edition = Edition::kReference;
};

struct DiffSummary {
  Table table;
  // JSON: op -> kernels per trace, and op -> kernels and modules under unified names.
  std::string op_map_trace1, op_map_trace2, op_map;
  std::vector<std::string> notes;  // what was renamed, what found no partner
};

// `diff_stats` is the table of diff_stats_table().
[[nodiscard]] DiffSummary summarize_diff(const Table& diff_stats,
                                         const DiffSummaryOptions& options = {});

}  // namespace tracelens
