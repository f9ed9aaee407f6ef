// Which tables make the report of a JAX profile, and in which order.
#include <fmt/format.h>

#include <tracelens/tree.hpp>

#include "analysis/gpu/gpu_choice.hpp"
#include "analysis/gpu/idle.hpp"
#include "analysis/gpu/kernel_rules.hpp"
#include "analysis/gpu/timeline.hpp"
#include "analysis/jax/hlo_ops.hpp"
#include "analysis/jax/hosts.hpp"
#include "analysis/jax/kernels.hpp"
#include "analysis/jax/launchers.hpp"
#include "analysis/jax/op_sheets.hpp"
#include "analysis/jax/ops.hpp"
#include "analysis/jax/steps.hpp"
#include "analysis/jax/timeline.hpp"
#include "io/text_file.hpp"
#include "report/recipes/reports.hpp"

namespace tracelens {
namespace {

KernelRules kernel_rules(const ReportOptions& options) {
  if (options.kernel_rules_file.empty()) return KernelRules::built_in();
  return KernelRules::built_in().extended_by(io::read_text_file(options.kernel_rules_file),
                                             options.kernel_rules_file);
}

// What the Python TraceLens does not have: the timeline as for any other trace, idle time, HLO ops.
void add_own_tables(const Trace& trace, const Tree& tree, const JaxOps& ops,
                    const ReportOptions& options, const perf::Gpu* gpu, Report& report) {
  const auto add = [&report](std::optional<Table> table) {
    if (table) report.tables.push_back(*std::move(table));
  };
  Timeline timeline = jax_gpu_timeline(
      trace, tree, {.include_unlinked = true, .micro_idle_threshold_us = options.micro_idle_us});
  report.warnings = std::move(timeline.warnings);
  add(std::move(timeline.table));
  JaxTimeline by_gpu =
      jax_timeline(trace, {.by_gpu_name = "gpu_timeline_by_device", .reference_kinds = false});
  add(std::move(by_gpu.by_gpu));
  add(std::move(by_gpu.averages));
  if (const JaxHosts hosts{trace}; hosts.are_several())
    report.warnings.push_back(fmt::format(
        "the profile has {} hosts, whose clocks do not compare: gpu_timeline is their mean{}",
        hosts.size(), options.idle ? ", and there is no gpu_idle" : ""));
  else if (options.idle)
    // By size only: modules stand where launching threads would, and say nothing about the host.
    add(gpu_idle(trace, tree, {.include_unlinked = true}).by_size);
  add(jax_steps(trace));
  const KernelRules rules = kernel_rules(options);
  for (Table& table : jax_hlo_tables(
           trace, tree, ops,
           {.gpu = gpu,
           .peaks = options.achievable_peaks ? perf::Peaks::kAchievable : perf::Peaks::kDatasheet,
           .rules = &rules}))
    add(std::move(table));
}

}  // namespace

Report jax_report(const Trace& trace, const ReportOptions& options) {
  const std::optional<perf::Gpu> gpu = chosen_gpu({.name = options.gpu, .file = options.gpu_file},
                                                  options.gpu_from_trace ? &trace : nullptr);
  Report report{.title = "TraceLens JAX performance report",
                .trace_name = trace.source().name,
                .gpu = gpu ? gpu->name : std::string{},
                .tables = {},
                .warnings = {}};
  const Tree tree = build_tree(trace);
  const JaxOps ops{trace};
  const bool is_extended = options.categories == Categories::kExtended;
  if (is_extended) {
    add_own_tables(trace, tree, ops, options, gpu ? &*gpu : nullptr, report);
  } else {
    JaxTimeline timeline = jax_timeline(trace);
    report.tables.push_back(std::move(timeline.by_gpu));
    report.tables.push_back(std::move(timeline.averages));
  }
  const JaxKernels kernels{trace, tree, ops};
  if (kernels.all().empty())
    report.warnings.emplace_back(
        "the profile has no GPU kernels: it is of a CPU or TPU run, or the device was not traced");
  for (Table& table : jax_launcher_tables(kernels.with_metadata(options.op_keywords)))
    report.tables.push_back(std::move(table));
  for (Table& table : jax_op_sheets(kernels)) report.tables.push_back(std::move(table));
  if (options.warnings)
    if (auto table = warnings_table(trace, report.warnings))
      report.tables.push_back(*std::move(table));
  return report;
}

}  // namespace tracelens
