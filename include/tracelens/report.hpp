// report.hpp: the performance report of one trace: which tables, in which order. In src/report.
//   const Report report = make_report(read_trace("rank0.json.gz"), {.micro_idle_us = 5});
//   write_report(report, "report.xlsx");       // or .md, .json, or a folder for CSV files
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

struct ReportOptions {
  bool include_unlinked = false;  // GPU events whose launch is not in the trace count as well
  std::optional<std::int64_t> micro_idle_us = {};  // split idle time at this gap length
  bool recompute = false;       // tell activation recomputation apart (needs Python stacks)
  double short_kernel_us = 10;  // kernels below this are short
  int histogram_bins = 100;
  std::optional<std::size_t> top_short_kernels = {};
};

struct Report {
  std::string title;
  std::string trace_name;             // where it came from
  std::vector<Table> tables;          // in report order; the first is gpu_timeline
  std::vector<std::string> warnings;  // sentences about what the report had to make do with
  [[nodiscard]] const Table* find(std::string_view table) const;  // nullptr: not in this report
};

[[nodiscard]] Report make_report(const Trace& trace, const ReportOptions& options = {});

// The kind of document follows the name of the output. Throws Error when it cannot be written;
// a file is replaced only when the new one is complete.
void write_report(const Report& report, const std::string& output);

}  // namespace tracelens
