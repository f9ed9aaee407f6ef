// compare.hpp: what changed between two or more runs: reports side by side, and gates on the
// changes.
//   const Comparison c = compare_reports({"base.json.gz", "new.json.gz"},
//                                        {.gates = {"total_time > 5%"}});
//   write_comparison(c, "compare.xlsx");
//   if (!c.passed()) return 1;
// Inputs are traces of any format or finished reports: a workbook, or a folder of CSV files. The
// first is the baseline. Implemented in src/report.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/edition.hpp>
#include <tracelens/report.hpp>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

struct CompareOptions {
  // How the inputs are called in columns; empty: by their file names, told apart by folder or
  // number where they are equal.
  std::vector<std::string> names = {};
  // gpu_timeline, ops_summary, kernel_summary, ops_all, roofline or all
  std::vector<std::string> sheets = {"all"};
  // Extended: also sheets the Python TraceLens does not compare, and rows that it would multiply in
  // order. Reference: equal file names are an error too, as they are there.
  Edition edition = Edition::kExtended;
  ReportOptions report = {};  // how traces become reports
  // Limits: "total_time > 5%", "op:aten::mm > 0.2ms", "category:GEMM > 3% min 1ms", see
  // docs/guide/compare.md
  std::vector<std::string> gates = {};
  std::function<Trace(const std::string& path)> read = nullptr;  // none: read_trace()
};

// What CompareOptions::sheets may hold.
[[nodiscard]] std::span<const std::string_view> compare_groups();

struct GateOutcome {
  std::string gate = {};
  bool passed = true;
  std::vector<std::string> evidence = {};  // a sentence per thing over the limit
  std::string summary = {};                // what came closest to it, when it passed
};

struct Comparison {
  Report report;  // its tables are the sheets of the comparison; its warnings what was left out
  std::vector<GateOutcome> gates;
  // What a person reads first: for every report but the first its total time and what changed
  // most, in sentences; then before, after, difference and percent as tables. `what_changed` comes
  // first, the largest difference on top. There a replaced op is one row: traces are compared by
  // their call trees, reports by category.
  std::vector<Table> key_tables;
  std::string conclusion;
  [[nodiscard]] bool passed() const;
};

// Throws Error when an input cannot be read, names clash, a sheet asked for by name is missing, or
// a gate is not understood or about nothing.
[[nodiscard]] Comparison compare_reports(const std::vector<std::string>& inputs,
                                         const CompareOptions& options = {});

// The form follows the name of the output, as for a report. Columns that are seldom looked at are
// folded away in a workbook.
void write_comparison(const Comparison& comparison, const std::string& output);

// The outcome of the gates for CI systems: JUnit XML, or JSON when the name ends in .json.
void write_gates(const Comparison& comparison, const std::string& output);
void write_gates(std::span<const GateOutcome> gates, const std::string& output);

// Two traces aligned call by call.
struct DiffOptions {
  // Reference: the merged ids and rows of the Python TraceLens. Extended: roots aligned thread by
  // thread, names before positions, every tree once, fills counted.
  Edition edition = Edition::kReference;
  bool python_frames = false;     // Python functions and modules take part in the trees
  bool prune_idle_roots = false;  // leave roots without GPU work out of the text
  // Report::page: what both runs did, on one time scale.
  std::optional<PageOptions> page = {};
};

struct TraceDiff {
  bool aligned = true;  // false: a trace has no ops; the tables compare kernels and categories
  // diff_stats, diff_stats_unique_args_summary, ops_diff, substitutions, and modules_diff or
  // annotations_diff where ops have little in common; its warnings say what the comparison had to
  // make do with
  Report report;
  std::string tree_text;                             // the merged tree
  std::string op_map_trace1, op_map_trace2, op_map;  // JSON
  std::string note;                                  // the performance note, in Markdown
};

[[nodiscard]] TraceDiff diff_traces(const Trace& trace1, const Trace& trace2,
                                    const DiffOptions& options = {});

// A report of one trace, widened by a second one: unified_perf_summary gets columns about the other
// trace, and the sheet diff_stats comes after it. `options` are those the report was made with.
// Nothing changes when the report has no such table or the traces cannot be aligned; a warning of
// the report says so.
void add_other_trace(Report& report, const Trace& trace, const Trace& other,
                     const ReportOptions& options);

// A folder gets every table as CSV, merged_tree_output.txt, the maps and note.md; a file the
// tables, or, when it ends in .md, the note.
void write_diff(const TraceDiff& diff, const std::string& output);

}  // namespace tracelens
