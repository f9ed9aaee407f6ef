// Which tables make the report of rocprofv3's results.
#include "report/recipes/rocprof.hpp"

#include <tracelens/tree.hpp>
#include <utility>

#include "analysis/gpu/timeline.hpp"
#include "analysis/rocm/hip_streams.hpp"
#include "analysis/rocm/kernel_counters.hpp"
#include "analysis/rocm/rocprof_processes.hpp"
#include "analysis/rocm/rocprof_tables.hpp"
#include "report/recipes/pftrace.hpp"
#include "report/recipes/reports.hpp"

namespace tracelens {

std::vector<Table> rocprof_tables(const Trace& trace, const RocprofTableOptions& options) {
  const RocprofKernels kernels{trace, ProcessScope::kFirst};
  const RocprofSummaryOptions summary{.category = rocprof_category, .cumulative_by_rows = false};
  std::vector<Table> tables;
  tables.push_back(rocprof_gpu_timeline(kernels));
  if (options.kernel_summary) {
    tables.push_back(rocprof_kernel_summary(kernels, summary));
    tables.push_back(rocprof_category_summary(kernels, summary));
  }
  if (options.kernel_details)
    tables.push_back(rocprof_kernel_details(kernels, {.top = options.top_kernels}));
  if (options.short_kernels) {
    tables.push_back(rocprof_short_kernels(kernels, options.short_kernel_us));
    tables.push_back(
        rocprof_short_histogram(kernels, options.short_kernel_us, options.histogram_bins));
  }
  return tables;
}

Report rocprof_report(const Trace& trace, const ReportOptions& options) {
  const RocmViews views{options.views};
  const KernelRules rules = kernel_rules_for(options);
  Report report{.title = "TraceLens report of a rocprofv3 profile",
                .trace_name = trace.source().name,
                .gpu = {},
                .tables = {},
                .warnings = {}};
  const PftraceEvents events{trace, options.categories == Categories::kReference
                                        ? GpuNumbers::kByOrder
                                        : GpuNumbers::kByAgent};
  if (views.activity) {
    const RocprofKernels kernels{trace};
    RocprofSummaryOptions summary;
    if (options.categories == Categories::kExtended)
      summary.category = [&rules](std::string_view kernel) { return rules.category(kernel); };
    else
      summary.cumulative_by_rows = false;
    report.tables.push_back(rocprof_gpu_timeline(kernels));
    const Tree tree = build_tree(trace);
    add_with_rows(report, gpu_timeline_by_device(trace, tree, {.include_unlinked = true}));
    if (kernels.processes > 1) add_with_rows(report, processes_table(trace));
    add_with_rows(report, gpu_streams(trace));
    add_with_rows(report, rocprof_kernel_summary(kernels, summary));
    add_with_rows(report, rocprof_category_summary(kernels, summary));
    add_with_rows(report, kernel_counters(kernels));
    if (options.kernel_details)
      add_with_rows(report, rocprof_kernel_details(kernels, {.resources = true}));
    if (options.short_kernels) {
      add_with_rows(report, rocprof_short_kernels(kernels, options.short_kernel_us));
      add_with_rows(report, rocprof_short_histogram(kernels, options.short_kernel_us,
                                                    options.histogram_bins));
    }
    add_with_rows(
        report,
        hip_summary(PftraceActivity{
            events,
            {.min_event_ns = 0, .name_first = options.categories == Categories::kExtended}}));
  }
  if (views.api) add_api_tables(report, events);
  if (views.memcpy) add_copy_tables(report, events);
  if (options.warnings) add_with_rows(report, warnings_table(trace, report.warnings));
  return report;
}

}  // namespace tracelens
