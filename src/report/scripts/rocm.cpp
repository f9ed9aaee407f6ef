// rocm.cpp: the scripts of the Python TraceLens for ROCm, see tracelens/rocm.hpp.
#include <tracelens/rocm.hpp>

#include <filesystem>
#include <tracelens/read_trace.hpp>

#include "analysis/rocm/api_latency.hpp"
#include "analysis/rocm/memory_copy.hpp"
#include "analysis/rocm/pftrace_activity.hpp"
#include "analysis/rocm/rocprof_processes.hpp"
#include "report/import/genesis_capture.hpp"
#include "report/recipes/genesis.hpp"
#include "report/recipes/pftrace.hpp"

namespace tracelens {
namespace {

PftraceActivityOptions activity_options(const HipActivityOptions& options) {
  return {.merge_kernels = options.merge_kernels,
          .min_tid = options.min_tid,
          .max_tid = options.max_tid,
          .min_event_ns = options.min_event_ns,
          .top_xla = options.top_xla,
          .include_rccl = options.include_rccl,
          .percent_of_compute = options.percent_of_compute,
          .group_by_config = options.group_by_config,
          .group_by_stream = options.group_by_stream,
          .group_by_operation = options.group_by_operation,
          .edition = Edition::kReference};
}

ActivityTableOptions table_options(const HipActivityOptions& options) {
  return {.kernel_summary = options.kernel_summary,
          .hip_summary = options.hip_summary,
          .kernel_rows = options.kernel_rows,
          .hip_rows = options.hip_rows};
}

// A little more than the run says it took.
double fallback_seconds(const std::string& folder, const GenesisOptions& options) {
  if (options.fallback_s) return *options.fallback_s;
  const auto seconds = genesis_seconds(folder);
  return seconds ? *seconds * 1.05 : 5.0;
}

}  // namespace

std::vector<Table> hip_activity_tables(const Trace& trace, const HipActivityOptions& options) {
  const PftraceEvents events{trace, Edition::kReference};
  return activity_tables(PftraceActivity{events, activity_options(options)},
                         table_options(options));
}

std::string hip_activity_markdown(const Trace& trace, const HipActivityOptions& options) {
  const PftraceEvents events{trace, Edition::kReference};
  return activity_markdown(PftraceActivity{events, activity_options(options)},
                           table_options(options));
}

Table hip_api_table(const Trace& trace, const HipApiOptions& options) {
  ApiLaunchOptions launches{.all_kernels = options.all_kernels, .other_calls = options.other_calls};
  if (options.exclude_kernels) launches.exclude_kernels = *options.exclude_kernels;
  const PftraceEvents events{trace, Edition::kReference};
  return api_kernel_summary(events, find_api_launches(events, launches));
}

Table memory_copy_table(const Trace& trace) {
  const PftraceEvents events{trace, Edition::kReference};
  return memory_copy_by_copy_bytes(find_memory_copies(events, Edition::kReference));
}

std::size_t process_count(const Trace& trace) { return profiled_processes(trace).size(); }

GenesisReport genesis_report(const std::string& folder, const GenesisOptions& options) {
  const GenesisFiles files = find_genesis_files(folder);
  const auto read = [&options](const std::string& path) {
    return options.read ? options.read(path) : read_trace(path);
  };
  const Trace kernels = read(files.kernels);
  std::optional<Trace> timeline;
  if (files.timeline) timeline = read(*files.timeline);
  const double fallback_s = fallback_seconds(folder, options);
  return genesis_report({.kernels = &kernels,
                         .timeline = timeline ? &*timeline : nullptr,
                         .has_kernel_csv = files.has_kernel_csv,
                         .manifest = genesis_manifest(folder),
                         .name = std::filesystem::path{folder}.filename().string(),
                         .steady = {.gap_ns = static_cast<std::int64_t>(options.gap_ms * 1e6),
                                    .fallback_ns = static_cast<std::int64_t>(fallback_s * 1e9)}},
                        options);
}

}  // namespace tracelens
