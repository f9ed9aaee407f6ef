// Which tables make the report of a PyTorch trace, and in which order.
#include <algorithm>
#include <future>
#include <tracelens/tree.hpp>

#include "analysis/gpu/gpu_choice.hpp"
#include "analysis/gpu/idle.hpp"
#include "analysis/gpu/kernel_categories.hpp"
#include "analysis/gpu/kernel_rules.hpp"
#include "analysis/gpu/kernels.hpp"
#include "analysis/gpu/timeline.hpp"
#include "analysis/ops/step_tables.hpp"
#include "analysis/ranks/single.hpp"
#include "io/text_file.hpp"
#include "io/threads.hpp"
#include "perf/registry/user_models.hpp"
#include "report/recipes/op_tables.hpp"
#include "report/recipes/reports.hpp"

namespace tracelens {
namespace {

std::optional<perf::Gpu> choose_gpu(const Trace& trace, const ReportOptions& options) {
  return chosen_gpu({.name = options.gpu, .file = options.gpu_file},
                    options.gpu_from_trace ? &trace : nullptr);
}

// Compiling the rules takes a while, so there are none unless a table asks for them or the user
// names a file, which is checked in any case.
std::optional<KernelRules> kernel_rules(const ReportOptions& options) {
  const bool in_summary = options.kernel_summary && options.categories == Categories::kExtended;
  if (options.kernel_rules_file.empty() && !in_summary && !options.kernel_categories)
    return std::nullopt;
  if (options.kernel_rules_file.empty()) return KernelRules::built_in();
  return KernelRules::built_in().extended_by(io::read_text_file(options.kernel_rules_file),
                                             options.kernel_rules_file);
}

perf::UserModels user_models(const ReportOptions& options) {
  if (options.models_file.empty()) return {};
  return perf::read_user_models(io::read_text_file(options.models_file), options.models_file);
}

Edition edition_of(const ReportOptions& options) {
  return options.categories == Categories::kReference ? Edition::kReference : Edition::kExtended;
}

// Steps the profiler marked need no frames; iterations are found by them.
std::vector<Step> steps_of(const Trace& trace, const Tree& tree, Report& report) {
  std::vector<Step> steps = find_steps(trace, tree);
  if (steps.empty()) steps = find_steps(trace, build_tree(trace, {.python_frames = true}));
  if (steps.empty())
    report.warnings.emplace_back(
        "the trace marks no steps and repeats no call: no tables by step; call profiler.step()");
  return steps;
}

OpTableOptions op_options(const ReportOptions& options, const perf::UserModels& own_models,
                          const perf::Gpu* gpu, std::span<const Step> steps) {
  return {.edition = edition_of(options),
          .own_models = &own_models,
          .split_recompute = options.recompute,
          .overlap = options.overlap,
          .call_stack = options.call_stack,
          .group_by_kernel_count = options.group_by_kernel_count,
          .first_occurrence = options.first_occurrence,
          .by_module = options.by_module,
          .steps = steps,
          .collectives = false,  // they come after the kernels
          .include_unlinked = options.include_unlinked,
          .top_ops = options.top_ops,
          .top_sheet_rows = options.top_ops,
          .gpu = gpu,
          .peaks = options.achievable_peaks ? perf::Peaks::kAchievable : perf::Peaks::kDatasheet};
}

std::vector<Table> make_kernel_tables(const Trace& trace, const Tree& tree, std::int64_t total_ns,
                                      const std::optional<KernelRules>& rules,
                                      const ReportOptions& options) {
  std::vector<Table> tables;
  const auto add = [&tables](std::optional<Table> table) {
    if (table) tables.push_back(std::move(*table));
  };
  if (!options.kernel_summary && !options.kernel_categories && !options.short_kernels)
    return tables;
  const bool is_extended = options.categories == Categories::kExtended;
  const KernelRows kernels = collect_kernels(trace, tree, edition_of(options));
  if (options.kernel_summary)
    add(kernel_summary(trace, kernels, total_ns, is_extended ? &*rules : nullptr));
  if (options.kernel_categories) add(kernel_categories(trace, kernels, *rules));
  if (options.short_kernels) {
    const ShortKernelOptions short_options{.threshold_us = options.short_kernel_us,
                                           .histogram_bins = options.histogram_bins,
                                           .top_rows = options.top_short_kernels};
    add(short_kernel_histogram(kernels, short_options));
    add(short_kernels_summary(trace, tree, kernels, total_ns, short_options));
  }
  return tables;
}

}  // namespace

void check_options(const ReportOptions& options) {
  (void)chosen_gpu({.name = options.gpu, .file = options.gpu_file}, nullptr);
  (void)user_models(options);
  if (!options.kernel_rules_file.empty()) (void)kernel_rules(options);
}

Report pytorch_report(const Trace& trace, const ReportOptions& options) {
  // Files the user names are read first: a mistake in one should show at once.
  const std::optional<perf::Gpu> gpu = choose_gpu(trace, options);
  const perf::UserModels own_models = user_models(options);
  // Beside the first steps the rules are compiled. Deferred also when the system gives no thread.
  const auto beside = io::thread_count(options.threads) > 1
                          ? std::launch::async | std::launch::deferred
                          : std::launch::deferred;
  auto rules = std::async(beside, [&options] { return kernel_rules(options); });

  Report report{.title = "TraceLens performance report",
                .trace_name = trace.source().name,
                .gpu = gpu ? gpu->name : std::string{},
                .tables = {},
                .warnings = {}};
  const auto add = [&report](std::optional<Table> table) {
    if (table) report.tables.push_back(std::move(*table));
  };

  // Frames take part only where a table needs them, as in the Python TraceLens: they change which
  // ops are discarded for outlasting their caller.
  const Tree tree = build_tree(
      trace, {.python_frames = options.recompute || options.call_stack || options.by_module,
              .link_by_correlation = options.link_by_correlation});
  const TimelineOptions timeline_options{.include_unlinked = options.include_unlinked,
                                         .micro_idle_threshold_us = options.micro_idle_us,
                                         .split_recompute = options.recompute};
  Timeline timeline = gpu_timeline(trace, tree, timeline_options);
  report.warnings = std::move(timeline.warnings);
  // Beside the op tables, one after the other: together they would take more memory than time.
  struct Beside {
    std::optional<IdleTables> idle;
    std::optional<Table> by_device, collectives;
    std::vector<Table> kernels;
  };
  auto others = std::async(beside, [&] {
    Beside made;
    if (options.idle) {
      made.idle = gpu_idle(trace, tree, {.include_unlinked = options.include_unlinked});
      made.by_device = gpu_timeline_by_device(trace, tree, timeline_options);
    }
    made.kernels = make_kernel_tables(trace, tree, timeline.total_ns, rules.get(), options);
    if (options.collectives && !tree.stats().gpu_only)
      made.collectives =
          coll_analysis(trace, {.keep_incomplete = options.categories == Categories::kExtended});
    return made;
  });
  const std::vector<Step> steps =
      options.by_step ? steps_of(trace, tree, report) : std::vector<Step>{};
  std::vector<Table> op_tables =
      make_op_tables(trace, tree, op_options(options, own_models, gpu ? &*gpu : nullptr, steps));
  if (options.by_module && std::ranges::find(op_tables, "modules", &Table::name) == op_tables.end())
    report.warnings.emplace_back(
        "the trace has no nn.Modules: no tables by module; record it with with_stack=True");

  Beside made = others.get();
  add(std::move(timeline.table));
  if (!steps.empty()) add(gpu_timeline_by_step(trace, tree, steps));
  add(std::move(made.by_device));
  if (made.idle) {
    add(std::move(made.idle->by_size));
    add(std::move(made.idle->by_host));
  }
  for (Table& table : op_tables) add(std::move(table));
  for (Table& table : made.kernels) add(std::move(table));
  add(std::move(made.collectives));
  if (options.warnings) add(warnings_table(trace, report.warnings));
  return report;
}

}  // namespace tracelens
