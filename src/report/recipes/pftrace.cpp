// Which tables make the report of a ROCm timeline (Perfetto, or JSON of the same events).
#include "report/recipes/pftrace.hpp"

#include <fmt/format.h>

#include <tracelens/error.hpp>
#include <tracelens/tree.hpp>
#include <utility>

#include "analysis/gpu/timeline.hpp"
#include "analysis/rocm/api_latency.hpp"
#include "analysis/rocm/hip_streams.hpp"
#include "analysis/rocm/kernel_counters.hpp"
#include "analysis/rocm/memory_copy.hpp"
#include "analysis/rocm/rocprof_tables.hpp"
#include "io/text_file.hpp"
#include "report/recipes/reports.hpp"
#include "report/sinks/pipe_table.hpp"

namespace tracelens {

std::vector<Table> activity_tables(const PftraceActivity& activity,
                                   const ActivityTableOptions& options) {
  std::vector<Table> tables;
  tables.push_back(category_summary(activity));
  tables.push_back(xla_top(activity));
  if (options.kernel_summary) tables.push_back(pftrace_kernel_summary(activity));
  if (options.hip_summary) tables.push_back(hip_summary(activity));
  return tables;
}

std::string activity_markdown(const PftraceActivity& activity,
                              const ActivityTableOptions& options) {
  std::string gpus;
  for (const std::string& gpu : activity.events().gpus()) gpus += (gpus.empty() ? "" : ", ") + gpu;
  std::string page = fmt::format(
      "# ROCm Perfetto Trace Report\n\n- Agents (GPUs): {}\n- Used FA v3 kernels detected: "
      "**{}**\n\n## Category Summary (per GPU)\n",
      gpus, activity.uses_fa3() ? 1 : 0);
  constexpr auto kNothing = "_(no data)_\n";
  const Table categories = category_summary(activity);
  page += categories.rows() > 0 ? pipe_table(categories, categories.rows()) : kNothing;
  page += "\n## Top XLA Kernels (by time)\n";
  const Table xla = xla_top(activity);
  if (xla.rows() > 0)
    page += "| Kernel | Total Time (ms) | Count | Fraction of XLA |\n|---|---:|---:|---:|\n";
  else
    page += kNothing;
  for (std::size_t row = 0; row < xla.rows(); ++row)
    page +=
        fmt::format("| `{}` | {:.2f} | {} | {:.2f}% |\n", xla.column("Kernel").texts()[row],
                    xla.column("Total time (ms)").reals()[row], xla.column("Count").integers()[row],
                    xla.column("Fraction of XLA").reals()[row] * 100);
  const auto add_section = [&page](const char* title, const Table& table, std::size_t rows) {
    if (table.rows() > 0) page += fmt::format("\n### {}\n{}", title, pipe_table(table, rows));
  };
  if (options.kernel_summary)
    add_section("Kernel Summary Table", pftrace_kernel_summary(activity), options.kernel_rows);
  if (options.hip_summary)
    add_section("HIP API Summary Table", hip_summary(activity), options.hip_rows);
  return page;
}

RocmViews::RocmViews(const std::vector<std::string>& names) {
  if (names.empty()) return;
  activity = api = memcpy = false;
  for (const std::string& name : names) {
    if (name == "activity")
      activity = true;
    else if (name == "api")
      api = true;
    else if (name == "memcpy")
      memcpy = true;
    else
      throw Error{name, "no such view; known are activity, api and memcpy"};
  }
}

void add_with_rows(Report& report, std::optional<Table> table) {
  if (table && table->rows() > 0) report.tables.push_back(std::move(*table));
}

void add_api_tables(Report& report, const PftraceEvents& events) {
  const std::vector<ApiLaunch> launches =
      find_api_launches(events, {.all_kernels = true, .other_calls = true});
  add_with_rows(report, api_kernel_summary(events, launches));
  add_with_rows(report, queue_delay(events, launches));
}

void add_copy_tables(Report& report, const PftraceEvents& events) {
  const std::vector<MemoryCopy> copies = find_memory_copies(events);
  add_with_rows(report, memory_copy_by_copy_bytes(copies));
  add_with_rows(report, memory_copy_sizes(copies));
  add_with_rows(report, memory_copy_bandwidth(copies));
}

KernelRules kernel_rules_for(const ReportOptions& options) {
  if (options.kernel_rules_file.empty()) return KernelRules::built_in();
  return KernelRules::built_in().extended_by(io::read_text_file(options.kernel_rules_file),
                                             options.kernel_rules_file);
}

Report pftrace_report(const Trace& trace, const ReportOptions& options) {
  const RocmViews views{options.views};
  Report report{.title = "TraceLens report of a ROCm timeline",
                .trace_name = trace.source().name,
                .gpu = {},
                .tables = {},
                .warnings = {}};
  const bool is_reference = options.categories == Categories::kReference;
  const PftraceEvents events{trace, is_reference ? GpuNumbers::kByOrder : GpuNumbers::kByAgent};
  if (views.activity) {
    const Tree tree = build_tree(trace);
    const TimelineOptions timeline_options{.include_unlinked = true,
                                           .micro_idle_threshold_us = options.micro_idle_us};
    Timeline timeline = gpu_timeline(trace, tree, timeline_options);
    report.warnings = std::move(timeline.warnings);
    report.tables.push_back(std::move(timeline.table));
    add_with_rows(report, gpu_timeline_by_device(trace, tree, timeline_options));
    add_with_rows(report, gpu_streams(trace));
    const PftraceActivity activity{events,
                                   {.min_event_ns = is_reference ? 5000 : 0,
                                    .include_rccl = !is_reference,
                                    .name_first = !is_reference,
                                    .exact_overlap = !is_reference}};
    const KernelRules rules = kernel_rules_for(options);
    const RocprofKernels kernels{trace};
    for (Table& table : activity_tables(activity, {})) {
      const bool is_kernels = table.name() == "kernel_summary";
      add_with_rows(report, std::move(table));
      if (is_kernels && !is_reference)
        add_with_rows(report, rocprof_category_summary(
                                  kernels, {.category = [&rules](std::string_view kernel) {
                                    return rules.category(kernel);
                                  }}));
    }
    add_with_rows(report, kernel_counters(kernels));
  }
  if (views.api) add_api_tables(report, events);
  if (views.memcpy) add_copy_tables(report, events);
  if (options.warnings) add_with_rows(report, warnings_table(trace, report.warnings));
  return report;
}

}  // namespace tracelens
