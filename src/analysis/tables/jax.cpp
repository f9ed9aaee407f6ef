// The tables of a JAX profile, in report order: ours, then those of the Python TraceLens.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/jax/hlo_ops.hpp"
#include "analysis/jax/hosts.hpp"
#include "analysis/jax/launchers.hpp"
#include "analysis/jax/op_sheets.hpp"
#include "analysis/jax/steps.hpp"
#include "analysis/jax/timeline.hpp"
#include "analysis/tables/compare_rules.hpp"
#include "analysis/tables/context.hpp"
#include "analysis/tables/host.hpp"
#include "analysis/tables/lists.hpp"
#include "facts/kernel_names.hpp"
#include "io/ascii.hpp"

namespace tracelens {
namespace {

std::vector<Table> timelines(TableContext& c) {
  if (!c.is_extended()) {
    JaxTimeline made = jax_timeline(c.facts, Edition::kReference);
    return tables(std::move(made.by_gpu), std::move(made.averages));
  }
  JaxTimeline made = jax_timeline(c.facts, Edition::kExtended);
  if (const JaxHosts hosts{c.trace}; hosts.are_several())
    c.warn(fmt::format(
        "the profile has {} hosts, whose clocks do not compare: gpu_timeline is their mean{}",
        hosts.size(), c.wants("gpu_idle") ? ", and there is no gpu_idle" : ""));
  std::vector<Table> list = tables(c.timeline().table);
  // Of one GPU both would be the same table again.
  if (made.gpus > 1)
    list = tables(std::move(list[0]), std::move(made.by_gpu), std::move(made.averages));
  return list;
}

std::vector<Table> idle(TableContext& c) {
  if (JaxHosts{c.trace}.are_several()) return {};
  return idle_tables(c);
}

std::vector<Table> steps(TableContext& c) { return tables(jax_steps(c.trace)); }

std::vector<Table> hlo(TableContext& c) {
  return jax_hlo_tables(c.trace, c.tree(), c.jax_ops(),
                        {.gpu = c.gpu(), .peaks = c.peaks(), .rules = &c.kernel_rules()});
}

std::vector<Table> launchers(TableContext& c) {
  const JaxKernels& all = c.jax_kernels();
  const auto wants = [&c](std::string_view table, std::size_t rows) {
    return c.wants_or_leaves_out(table, rows);
  };
  if (c.options.op_keywords.empty()) return jax_launcher_tables(all, wants);
  return jax_launcher_tables(all.with_metadata(c.options.op_keywords), wants);
}

std::vector<Table> op_sheets(TableContext& c) { return jax_op_sheets(c.jax_kernels()); }

// op_gemm, op_fa_fwd, ...
const std::vector<std::string>& op_sheet_names() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> names;
    for (const std::string_view category : jax_categories()) {
      names.push_back("op_" + io::lower_case(std::string{category}));
      std::ranges::replace(names.back(), ' ', '_');
    }
    return names;
  }();
  return all;
}

constexpr TableInfo kTables[] = {
    {.name = "gpu_timeline",
     .description = "What the GPU's time went to, from its first event to its last",
     .screen = {.place = 1, .rows = 20, .columns = "type | time ms | percent"},
     .compare = &kCompareTimeline,
     .make = timelines},
    {.name = "gpu_timeline_by_device",
     .description = "What the time of each GPU went to, from its first event to its last",
     .on = Default::kExtended,
     .needs = Needs::kSeveralGpus,
     .screen = {.place = 2, .rows = 40, .columns = "gpu_pid | type | time ms | percent"},
     .make = timelines},
    {.name = "gpu_events_averages",
     .description = "What the time of a GPU went to, on average over all GPUs",
     .make = timelines},
    {.name = "gpu_idle",
     .description = "Idle time of the GPU by the length of the gap",
     .group = "idle",
     .on = Default::kExtended,
     .screen = {.place = 3, .rows = 10, .columns = kIdleColumns},
     .make = idle},
    {.name = "gpu_idle_host",
     .description = "What the launching thread was doing while the GPU was idle",
     .group = "idle",
     .on = Default::kExtended,
     .screen = {.place = 4, .rows = 8, .columns = kIdleHostColumns},
     .make = idle},
    kGapSummaryTable,
    kGapsTable,
    kSyncSummaryTable,
    kSyncCallsTable,
    kGapsByStreamTable,
    kUtilizationTable,
    kLaunchSummaryTable,
    kLaunchStatsTable,
    kQueueLengthTable,
    kQueueSeriesTable,
    kQueueBlockedTable,
    kCopyBandwidthTable,
    kCopySeriesTable,
    kCopyLevelsTable,
    kAnnotationsTable,
    {.name = "jax_steps",
     .description = "Steps of the program: host time and the GPU work they launched",
     .on = Default::kExtended,
     .needs = Needs::kSteps,
     .screen =
         {.place = 10,
          .rows = 12,
          .columns =
              "step | host (ms) | GPU busy (ms) | GPU busy (%) | GPU span (ms) | GPU idle before (ms) | GPU events | start (ms)"},
     .make = steps},
    {.name = "hlo_ops",
     .description = "GPU time, work and roofline of every HLO op",
     .on = Default::kExtended,
     .screen =
         {.place = 12,
          .rows = 12,
          .columns =
              "HLO op | GPU time (µs)_sum | Percentage (%) | Pct Roofline | kind | runs | TFLOPS/s | TB/s | Roofline Bound | scope | source | module | kernels | GPU time (µs)_mean"},
     .compare = &kCompareHloOps,
     .make = hlo},
    {.name = "hlo_ops_by_kind",
     .description = "GPU time by what the HLO ops compute",
     .on = Default::kExtended,
     .screen = {.place = 11,
                .rows = 12,
                .columns = "kind | GPU time (ms) | Percentage (%) | TFLOPS/s | HLO ops | runs"},
     .compare = &kCompareHloKinds,
     .make = hlo},
    {.name = "hlo_scopes",
     .description = "GPU time by scope of the program",
     .on = Default::kExtended,
     .screen = {.columns = "scope | GPU time (ms) | Percentage (%) | TFLOPS/s | HLO ops | runs"},
     .compare = &kCompareHloScopes,
     .make = hlo},
    {.name = "hlo_modules",
     .description = "Runs of the compiled modules",
     .on = Default::kExtended,
     .make = hlo},
    {.name = "kernel_launchers",
     .description = "Every kernel, with its HLO op's operands",
     .make = launchers},
    {.name = "kernel_launchers_summary",
     .description = "Kernel time by name",
     .screen = {.columns =
                    "name | total_direct_kernel_time_ms | Percentage (%) | Count | Categories"},
     .compare = &kCompareLaunchers,
     .make = launchers},
    {.name = "kernel_launchers_summary_by_category",
     .description = "Kernel time by category",
     .compare = &kCompareLauncherCategories,
     .make = launchers},
    {.name = "kernel_launchers_unique_args",
     .description = "Kernels by the operands of their HLO ops",
     .make = launchers},
    {.name = "df_xla_perf",
     .description = "The kernels of no category, with the bytes they read",
     .make = launchers},
    {.name = "xla_summary",
     .description = "Kernels of no category, by name without its numbers",
     .compare = &kCompareXla,
     .make = launchers},
    {.name = "op sheets",
     .description = "Work and rates of the ops of one category, a table each",
     .screen = {.columns = kOpSheetColumns},
     .make = op_sheets,
     .members = op_sheet_names},
    kWarningsTable,
};

}  // namespace

std::span<const TableInfo> jax_tables() { return kTables; }

}  // namespace tracelens
