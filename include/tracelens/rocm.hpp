// rocm.hpp: what the Python TraceLens's scripts for ROCm make, one by one; the report of a ROCm
// trace has all of it, and more.
//   const Trace trace = read_trace("run.pftrace");
//   write_tables(hip_activity_tables(trace, {.top_xla = 10}), "activity/", {});
// Sheets, columns and figures are those of the scripts. Implemented in src/report/scripts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

// --- a ROCm timeline: .pftrace, or JSON of the same events ---
struct HipActivityOptions {
  bool merge_kernels = false;             // names that differ only in digits are one kernel
  std::int64_t min_tid = -1'000'000'000;  // events of other threads are left out
  std::int64_t max_tid = 1'000'000'000;
  std::int64_t min_event_ns = 5000;  // shorter ones count in xla_top only
  std::size_t top_xla = 30;
  bool kernel_summary = true, hip_summary = true;  // whether there are these tables
  bool include_rccl = false;                       // also in kernel_summary
  bool percent_of_compute = false;  // base of kernel_summary: compute, or compute and RCCL
  bool group_by_config = true;      // kernel_summary by name and launch configuration
  bool group_by_stream = false;     // hip_summary
  bool group_by_operation = false;  // hip_summary
  std::size_t kernel_rows = 200, hip_rows = 200;  // of the Markdown page
};

// category_summary, xla_top, kernel_summary, hip_summary; those without data have no columns.
[[nodiscard]] std::vector<Table> hip_activity_tables(const Trace& trace,
                                                     const HipActivityOptions& options = {});
// The same as one page.
[[nodiscard]] std::string hip_activity_markdown(const Trace& trace,
                                                const HipActivityOptions& options = {});

struct HipApiOptions {
  std::optional<std::string> exclude_kernels = {};  // regular expression; none: XLA's own checks
  bool all_kernels = false;  // of a call, instead of the one that started first
  bool other_calls = false;  // also calls that launch nothing, such as hipFree
};

// From the HIP call to the kernel: statistics per process, thread, GPU, call and kernel. Throws
// Error when the regular expression is not one.
[[nodiscard]] Table hip_api_table(const Trace& trace, const HipApiOptions& options = {});

// How many copies of each size and direction.
[[nodiscard]] Table memory_copy_table(const Trace& trace);

// --- rocprofv3's results ---
struct RocprofTableOptions {
  bool kernel_summary = true;  // and kernel_summary_by_category
  bool kernel_details = false;
  bool short_kernels = false;
  double short_kernel_us = 10;
  int histogram_bins = 100;
  std::optional<std::int64_t> top_kernels = {};  // rows of kernel_details; all when absent
};

// Of the first process alone; the units are those of the headers.
[[nodiscard]] std::vector<Table> rocprof_tables(const Trace& trace,
                                                const RocprofTableOptions& options = {});

// How many processes a profile of rocprofv3 holds; 1 for every other trace.
[[nodiscard]] std::size_t process_count(const Trace& trace);

// --- the captured run of Genesis, a physics simulator ---
struct GenesisOptions {
  bool kernel_details = false;
  bool short_kernels = true;
  double short_kernel_us = 10;
  int histogram_bins = 100;
  double gap_ms = 1000;  // a pause this long ends the build
  // How much of the end to take when there is no such pause; none: what the log of the run says.
  std::optional<double> fallback_s = {};
  std::function<Trace(const std::string& path)> read = nullptr;  // none: read_trace()
};

struct GenesisReport {
  std::vector<Table> tables;  // none of them empty
  std::string summary;        // Markdown
};

// Of the folder of a capture: a kernel CSV or *_results.json, and, if there, a .pftrace, a manifest
// and run.log. Throws Error when it is no folder or holds no kernels.
[[nodiscard]] GenesisReport genesis_report(const std::string& folder,
                                           const GenesisOptions& options = {});

}  // namespace tracelens
