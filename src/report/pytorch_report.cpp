// Which tables make the report of a PyTorch trace, and in which order.
#include <fmt/format.h>

#include <algorithm>
#include <tracelens/report.hpp>
#include <tracelens/tree.hpp>
#include <tracelens/version.hpp>

#include "analysis/idle.hpp"
#include "analysis/kernels.hpp"
#include "analysis/timeline.hpp"
#include "report/sink.hpp"

namespace tracelens {
namespace {

const ColumnSpec kWarningColumns[] = {
    {"warning", Kind::kText, "", "what was wrong with the input or could not be done"},
    {"count", Kind::kInteger, "", "how often"},
    {"first byte", Kind::kInteger, "", "where in the unpacked text it was first seen"},
};

// What was skipped while reading and what the analyses had to make do with, so that no report is
// silently about less than the file holds. No table when all is well.
std::optional<Table> warnings_table(const Trace& trace, const std::vector<std::string>& sentences) {
  if (trace.warnings().entries().empty() && sentences.empty()) return std::nullopt;
  Table table{"warnings", "What was skipped or assumed", kWarningColumns};
  for (const auto& entry : trace.warnings().entries())
    table.add_row(entry.what, entry.count, entry.first_byte);
  for (const std::string& sentence : sentences) table.add_row(sentence, kMissing, kMissing);
  return table;
}

}  // namespace

const Table* Report::find(std::string_view table) const {
  const auto found = std::ranges::find(tables, table, &Table::name);
  return found == tables.end() ? nullptr : &*found;
}

Report make_report(const Trace& trace, const ReportOptions& options) {
  Report report{.title = "TraceLens performance report",
                .trace_name = trace.source().name,
                .tables = {},
                .warnings = {}};
  const auto add = [&report](std::optional<Table> table) {
    if (table) report.tables.push_back(std::move(*table));
  };
  // Recomputation shows only in Python frames. Without it frames stay out of the tree, as in the
  // Python TraceLens: they would change which ops are discarded for outlasting their caller.
  const Tree tree = build_tree(trace, {.python_frames = options.recompute});
  const TimelineOptions timeline_options{.include_unlinked = options.include_unlinked,
                                         .micro_idle_threshold_us = options.micro_idle_us,
                                         .split_recompute = options.recompute};
  Timeline timeline = gpu_timeline(trace, tree, timeline_options);
  report.warnings = std::move(timeline.warnings);
  add(std::move(timeline.table));
  add(gpu_timeline_by_device(trace, tree, timeline_options));
  {
    // What the host was doing is said best by the innermost Python frame, if frames were recorded.
    const bool has_frames =
        !options.recompute && std::ranges::find(trace.categories(), Category::kPythonFunction) !=
                                  std::ranges::end(trace.categories());
    IdleTables idle =
        gpu_idle(trace, has_frames ? build_tree(trace, {.python_frames = true}) : tree,
                 {.include_unlinked = options.include_unlinked});
    add(std::move(idle.by_size));
    add(std::move(idle.by_host));
  }

  const KernelRows kernels = collect_kernels(trace, tree);
  const ShortKernelOptions short_options{.threshold_us = options.short_kernel_us,
                                         .histogram_bins = options.histogram_bins,
                                         .top_rows = options.top_short_kernels};
  add(kernel_summary(trace, kernels, timeline.total_ns));
  add(short_kernel_histogram(kernels, short_options));
  add(short_kernels_summary(trace, tree, kernels, timeline.total_ns, short_options));
  add(warnings_table(trace, report.warnings));
  return report;
}

void write_report(const Report& report, const std::string& output) {
  write_tables(report.tables, output,
               {.title = report.title, .source = {report.trace_name}, .version = kVersion});
}

}  // namespace tracelens
