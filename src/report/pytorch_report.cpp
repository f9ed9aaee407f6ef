// Which tables make the report of a PyTorch trace, and in which order.
#include <algorithm>
#include <future>
#include <tracelens/report.hpp>
#include <tracelens/tree.hpp>
#include <tracelens/version.hpp>

#include "analysis/collectives_single.hpp"
#include "analysis/gpu_choice.hpp"
#include "analysis/idle.hpp"
#include "analysis/kernel_categories.hpp"
#include "analysis/kernel_rules.hpp"
#include "analysis/kernels.hpp"
#include "analysis/op_report.hpp"
#include "analysis/timeline.hpp"
#include "io/text_file.hpp"
#include "io/threads.hpp"
#include "perf/user_models.hpp"
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

bool has_python_frames(const Trace& trace) {
  return std::ranges::find(trace.categories(), Category::kPythonFunction) !=
         std::ranges::end(trace.categories());
}

std::optional<perf::Gpu> choose_gpu(const Trace& trace, const ReportOptions& options) {
  return chosen_gpu({.name = options.gpu, .file = options.gpu_file},
                    options.gpu_from_trace ? &trace : nullptr);
}

KernelRules kernel_rules(const ReportOptions& options) {
  if (options.kernel_rules_file.empty()) return KernelRules::built_in();
  return KernelRules::built_in().extended_by(io::read_text_file(options.kernel_rules_file),
                                             options.kernel_rules_file);
}

perf::UserModels user_models(const ReportOptions& options) {
  if (options.models_file.empty()) return {};
  return perf::read_user_models(io::read_text_file(options.models_file), options.models_file);
}

OpTableOptions op_options(const ReportOptions& options, perf::Edition edition,
                          const perf::UserModels& own_models, const perf::Gpu* gpu) {
  return {.edition = edition,
          .own_models = &own_models,
          .split_recompute = options.recompute,
          .overlap = options.overlap,
          .call_stack = options.call_stack,
          .group_by_kernel_count = options.group_by_kernel_count,
          .first_occurrence = options.first_occurrence,
          .collectives = false,  // they come after the kernels
          .include_unlinked = options.include_unlinked,
          .top_ops = options.top_ops,
          .gpu = gpu,
          .peaks = options.achievable_peaks ? perf::Peaks::kAchievable : perf::Peaks::kDatasheet};
}

}  // namespace

const Table* Report::find(std::string_view table) const {
  const auto found = std::ranges::find(tables, table, &Table::name);
  return found == tables.end() ? nullptr : &*found;
}

Report make_report(const Trace& trace, const ReportOptions& options) {
  // Files the user names are read first: a mistake in one should show at once.
  const std::optional<perf::Gpu> gpu = choose_gpu(trace, options);
  const perf::UserModels own_models = user_models(options);
  const KernelRules rules = kernel_rules(options);

  Report report{.title = "TraceLens performance report",
                .trace_name = trace.source().name,
                .gpu = gpu ? gpu->name : std::string{},
                .tables = {},
                .warnings = {}};
  const auto add = [&report](std::optional<Table> table) {
    if (table) report.tables.push_back(std::move(*table));
  };
  const bool is_extended = options.categories == Categories::kExtended;
  const auto edition = is_extended ? perf::Edition::kExtended : perf::Edition::kReference;

  // Frames take part only where a table needs them, as in the Python TraceLens: they change which
  // ops are discarded for outlasting their caller. What the host did while the GPU was idle is said
  // best by frames, so that table has a tree of its own, made beside all others.
  const bool frames = options.recompute || options.call_stack;
  const IdleOptions idle_options{.include_unlinked = options.include_unlinked};
  std::future<IdleTables> idle_beside;
  if (options.idle && !frames && has_python_frames(trace))
    idle_beside = std::async(
        io::thread_count(options.threads) > 1 ? std::launch::async : std::launch::deferred, [&] {
          return gpu_idle(trace,
                          build_tree(trace, {.python_frames = true,
                                             .link_by_correlation = options.link_by_correlation}),
                          idle_options);
        });
  const Tree tree = build_tree(
      trace, {.python_frames = frames, .link_by_correlation = options.link_by_correlation});

  const TimelineOptions timeline_options{.include_unlinked = options.include_unlinked,
                                         .micro_idle_threshold_us = options.micro_idle_us,
                                         .split_recompute = options.recompute};
  Timeline timeline = gpu_timeline(trace, tree, timeline_options);
  report.warnings = std::move(timeline.warnings);
  std::vector<Table> op_tables =
      make_op_tables(trace, tree, op_options(options, edition, own_models, gpu ? &*gpu : nullptr));

  add(std::move(timeline.table));
  if (options.idle) {
    add(gpu_timeline_by_device(trace, tree, timeline_options));
    IdleTables idle = idle_beside.valid() ? idle_beside.get() : gpu_idle(trace, tree, idle_options);
    add(std::move(idle.by_size));
    add(std::move(idle.by_host));
  }
  for (Table& table : op_tables) add(std::move(table));

  const KernelRows kernels = options.kernel_summary || options.short_kernels
                                 ? collect_kernels(trace, tree, edition)
                                 : KernelRows{};
  if (options.kernel_summary)
    add(kernel_summary(trace, kernels, timeline.total_ns, is_extended ? &rules : nullptr));
  if (options.kernel_categories) add(kernel_categories(trace, kernels, rules));
  if (options.short_kernels) {
    const ShortKernelOptions short_options{.threshold_us = options.short_kernel_us,
                                           .histogram_bins = options.histogram_bins,
                                           .top_rows = options.top_short_kernels};
    add(short_kernel_histogram(kernels, short_options));
    add(short_kernels_summary(trace, tree, kernels, timeline.total_ns, short_options));
  }
  if (options.collectives && !tree.stats().gpu_only)
    add(coll_analysis(trace, {.keep_incomplete = is_extended}));
  if (options.warnings) add(warnings_table(trace, report.warnings));
  return report;
}

void write_report(const Report& report, const std::string& output) {
  write_tables(report.tables, output,
               {.title = report.title,
                .subtitle = report.gpu.empty() ? "" : "Roofline figures: " + report.gpu,
                .source = {report.trace_name},
                .version = kVersion});
}

}  // namespace tracelens
