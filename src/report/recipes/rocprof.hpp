// rocprof.hpp: the tables of TraceLens_generate_perf_report_rocprof.
//   write_tables(rocprof_tables(trace, {.kernel_details = true}), "out/", {});
#pragma once

#include <cstdint>
#include <optional>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

struct RocprofTableOptions {
  bool kernel_summary = true;  // and kernel_summary_by_category
  bool kernel_details = false;
  bool short_kernels = false;
  double short_kernel_us = 10;
  int histogram_bins = 100;
  std::optional<std::int64_t> top_kernels = {};  // rows of kernel_details; all when absent
};

// Sheets, columns and categories of the Python TraceLens, and as there of the first process alone;
// the units are those of the headers.
[[nodiscard]] std::vector<Table> rocprof_tables(const Trace& trace,
                                                const RocprofTableOptions& options);

}  // namespace tracelens
