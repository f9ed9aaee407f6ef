// compare.hpp: what changed between two or more runs: reports side by side, and gates on the changes.
//   const Comparison c = compare_reports({"base.json.gz", "new.json.gz"}, {.gates = {"total_time > 5%"}});
//   write_comparison(c, "compare.xlsx");
//   if (!c.passed()) return 1;
// Inputs are traces of any format or finished reports: a workbook, or a folder of CSV files. The
// first is the baseline. Implemented in src/report.
#pragma once

#include <functional>
#include <string>
#include <tracelens/report.hpp>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

struct CompareOptions {
  std::vector<std::string> names = {};  // how the inputs are called in columns; empty: file names
  // gpu_timeline, ops_summary, kernel_summary, ops_all, roofline or all
  std::vector<std::string> sheets = {"all"};
  bool more_sheets = true;   // also sheets the Python TraceLens does not compare
  ReportOptions report = {};  // how traces become reports
  // Limits: "total_time > 5%", "op:aten::mm > 0.2ms", "category:GEMM > 3% min 1ms", see
  // docs/guide/compare.md
  std::vector<std::string> gates = {};
  std::function<Trace(const std::string& path)> read = nullptr;  // none: read_trace()
};

struct GateOutcome {
  std::string gate = {};
  bool passed = true;
  std::vector<std::string> evidence = {};  // a sentence per thing over the limit
  std::string summary = {};                // what came closest to it, when it passed
};

struct Comparison {
  Report report;  // its tables are the sheets of the comparison; its warnings what was left out
  std::vector<GateOutcome> gates;
  [[nodiscard]] bool passed() const;
};

// Throws Error when an input cannot be read, names clash, a sheet asked for by name is missing, or a
// gate is not understood or about nothing.
[[nodiscard]] Comparison compare_reports(const std::vector<std::string>& inputs,
                                         const CompareOptions& options = {});

// The form follows the name of the output, as for a report. Columns that are seldom looked at are
// folded away in a workbook.
void write_comparison(const Comparison& comparison, const std::string& output);

// The outcome of the gates for CI systems: JUnit XML, or JSON when the name ends in .json.
void write_gates(const Comparison& comparison, const std::string& output);

}  // namespace tracelens
