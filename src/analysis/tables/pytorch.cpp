// The tables of a PyTorch trace, in report order.
#include "analysis/fusion/fusible_table.hpp"
#include "analysis/fusion/sequences.hpp"
#include "analysis/gpu/graph_launches.hpp"
#include "analysis/gpu/idle.hpp"
#include "analysis/gpu/kernel_categories.hpp"
#include "analysis/memory/tables.hpp"
#include "analysis/ops/category_sheets.hpp"
#include "analysis/ops/module_tables.hpp"
#include "analysis/ops/op_tables.hpp"
#include "analysis/ops/step_tables.hpp"
#include "analysis/ops/unified.hpp"
#include "analysis/path/tables.hpp"
#include "analysis/ranks/single.hpp"
#include "analysis/serving/context.hpp"
#include "analysis/serving/phases.hpp"
#include "analysis/tables/compare_rules.hpp"
#include "analysis/tables/context.hpp"
#include "analysis/tables/host.hpp"
#include "analysis/tables/lists.hpp"
#include "perf/registry/sheets.hpp"

namespace tracelens {
namespace {

std::vector<Table> timeline(TableContext& c) { return tables(c.timeline().table); }

std::vector<Table> timeline_by_step(TableContext& c) {
  if (c.steps().empty()) return {};
  return tables(gpu_timeline_by_step(c.facts, c.steps(), c.timeline_options().include_unlinked));
}

std::vector<Table> timeline_by_device(TableContext& c) {
  return tables(gpu_timeline_by_device(c.facts, c.timeline_options()));
}

// Tables of ops have rows, or are not there; a trace of GPU events alone has none.
template <auto kMake>
std::vector<Table> of_ops(TableContext& c) {
  if (c.tree().stats().gpu_only) return {};
  return with_rows(tables(kMake(c.ops())));
}

std::vector<Table> by_module(TableContext& c) {
  std::vector<Table> made;
  if (!c.tree().stats().gpu_only) made = with_rows(module_tables(c.ops()));
  if (made.empty())
    c.warn("the trace has no nn.Modules: no tables by module; record it with with_stack=True");
  return made;
}

std::vector<Table> by_step(TableContext& c) {
  if (c.tree().stats().gpu_only || c.steps().empty()) return {};
  return with_rows(tables(ops_by_step(c.ops(), c.steps())));
}

// Nothing of a trace without steps of a serving engine.
std::vector<Table> serving(TableContext& c) {
  const ServingRun run{c.facts, c.options.include_unlinked};
  if (run.steps().empty()) return {};
  std::vector<Table> made;
  if (c.wants("serving_phases"))
    made.push_back(serving_phases(run, modelled_work(c.ops(), run), c.gpu()));
  if (c.wants("serving_steps")) made.push_back(serving_steps(run));
  const ServedOps ops{c.ops(), run};
  made.push_back(serving_ops_by_phase(run, ops));
  made.push_back(context_growth(run, ops));
  made.push_back(attention_by_context(run, ops));
  if (run.has_tokens() && !run.has_contexts())
    c.warn(
        "the annotations of the serving steps do not say how long the contexts are: what grows "
        "with the context is not known");
  return with_rows(std::move(made));
}

std::vector<Table> unified(TableContext& c) {
  if (c.tree().stats().gpu_only) return {};
  // The calls take much memory: no table is made with them later.
  OpInput& ops = c.unified_ops();
  const std::vector<UnifiedOp> calls = collect_unified_ops(ops);
  std::vector<Table> made;
  if (c.wants("unified_perf_summary")) made = with_rows(tables(unified_perf_summary(ops, calls)));
  if (c.wants("unified_perf_summary_kl_overlap"))
    for (Table& table : with_rows(tables(unified_perf_summary_kl_overlap(ops, calls))))
      made.push_back(std::move(table));
  return made;
}

std::vector<Table> op_sheets(TableContext& c) {
  if (c.tree().stats().gpu_only) return {};
  return with_rows(category_sheets(c.sheet_ops()));
}

// GEMM, SDPA_fwd, SDPA_bwd, ...
std::vector<std::string> sheet_names_with(std::string_view ending) {
  std::vector<std::string> names;
  for (const perf::SheetInfo& sheet : perf::sheets(Edition::kExtended)) {
    const auto add = [&](std::string_view pass) {
      names.push_back(std::string{sheet.name}.append(pass).append(ending));
    };
    if (sheet.passes == perf::SheetInfo::Passes::kOneSheet) {
      add("");
      if (sheet.names_pass_in_inference) add("_fwd");
    } else {
      add("_fwd");
      add("_bwd");
    }
  }
  return names;
}
const std::vector<std::string>& op_sheet_names() {
  static const std::vector<std::string> names = sheet_names_with("");
  return names;
}
const std::vector<std::string>& overlap_sheet_names() {
  static const std::vector<std::string> names = sheet_names_with("_kl_overlap");
  return names;
}

std::vector<Table> graph_tables(TableContext& c) {
  for (const std::string& sentence : stitching_warnings(c.trace, c.stitching())) c.warn(sentence);
  return tables(graph_stitching(c.facts, c.stitching()));
}

std::vector<Table> graph_kinds(TableContext& c) {
  if (c.stitching().launches.empty()) return {};
  return tables(graph_kernels(c.facts, c.stitching(), c.kernel_rules()));
}

std::vector<Table> kernel_table(TableContext& c) {
  return tables(kernel_summary(c.trace, c.kernels(), c.timeline().total_ns,
                               c.is_extended() ? &c.kernel_rules() : nullptr));
}

std::vector<Table> kernel_kinds(TableContext& c) {
  return tables(kernel_categories(c.trace, c.kernels(), c.kernel_rules()));
}

std::vector<Table> short_kernels(TableContext& c) {
  const ShortKernelOptions options{.threshold_us = c.options.short_kernel_us,
                                   .histogram_bins = c.options.histogram_bins,
                                   .top_rows = c.options.top_short_kernels};
  return tables(short_kernel_histogram(c.kernels(), options),
                short_kernels_summary(c.facts, c.kernels(), c.timeline().total_ns, options));
}

// Of the profiler's own timeline where one is given; nothing of a trace without memory events.
std::vector<Table> memory_tables(TableContext& c) {
  if (!c.options.memory_timeline_file.empty())
    return raw_memory_tables(read_raw_timeline(c.options.memory_timeline_file));
  const std::vector<DeviceMemory> devices = memory_devices(c.trace);
  if (devices.empty()) return {};
  std::vector<Table> made = tables(memory_summary(c.facts, devices));
  if (c.wants("memory_timeline"))
    made.push_back(c.options.page ? memory_curves(c.trace, devices)
                                  : memory_timeline(c.trace, devices));
  if (c.wants("memory_peak") || c.wants("memory_churn")) {
    MemoryOwnerTables owners = memory_owners(c.facts, devices);
    made.push_back(std::move(owners.peak));
    made.push_back(std::move(owners.churn));
  }
  return made;
}

std::vector<Table> sequences(TableContext& c) {
  if (c.tree().stats().gpu_only) return {};
  SequenceOptions options{.of = c.options.sequences_of,
                          .short_kernel_us = c.options.short_kernel_us};
  if (c.options.sequences_as_hta) return with_rows(tables(hta_kernel_sequences(c.facts, options)));
  constexpr std::size_t kLongestAskedFor = 1024;
  if (!options.of.empty()) options.longest = kLongestAskedFor;
  const OpPlaces places{c.trace, c.tree(), c.facts.host_ranges()};
  const FusionInput input{c.facts, c.ops(), places};
  return with_rows(tables(kernel_sequences(input, options), fusible_kernels(input, c.gpu())));
}

std::vector<Table> collectives(TableContext& c) {
  if (c.tree().stats().gpu_only) return {};
  return tables(coll_analysis(c.trace, c.options.edition));
}

std::vector<Table> path_summary(TableContext& c) {
  if (!c.is_extended()) return {};
  return with_rows(tables(c.path_summary().table));
}

std::vector<Table> path_segments(TableContext& c) {
  return with_rows(tables(critical_path_table(c.facts, c.path())));
}

// The costliest categories and ops.
std::vector<WhatIfGroup> what_if_groups(OpInput& ops) {
  constexpr std::size_t kMost = 10;
  std::vector<WhatIfGroup> groups;
  const auto add = [&](std::string_view what, std::span<const Launcher> launchers,
                       const auto& name_of) {
    struct Sum {
      WhatIfGroup group;
      std::int64_t ns = 0;
    };
    std::map<std::string, Sum> sums;
    for (const Launcher& op : launchers) {
      std::string name{name_of(op)};
      Sum& sum = sums[name];
      sum.group.name = std::string{what} + name;
      sum.ns += op.direct_ns;
      for (const GpuPosition at : ops.launches.own(op))
        sum.group.gpu_events.push_back(ops.launches.gpu_events()[at].event);
    }
    std::vector<Sum> sorted;
    for (auto& [name, sum] : sums) sorted.push_back(std::move(sum));
    std::ranges::stable_sort(sorted, std::ranges::greater{}, &Sum::ns);
    if (sorted.size() > kMost) sorted.resize(kMost);
    for (Sum& sum : sorted) groups.push_back(std::move(sum.group));
  };
  add("category ", ops.launches.parts(),
      [&](const Launcher& op) { return std::string_view{ops.categories.text(op.category)}; });
  add("op ", ops.launches.launchers(),
      [&](const Launcher& op) { return ops.trace.name(op.event); });
  return groups;
}

std::vector<Table> path_what_if(TableContext& c) {
  if (c.tree().stats().gpu_only) return {};
  return with_rows(tables(what_if_table(c.facts, c.path(), what_if_groups(c.ops()))));
}

// What a reader wants of a sheet of fifty columns.
constexpr std::string_view kUniqueArgsColumns =
    "name | Input Dims | operation_count | total_direct_kernel_time_sum | Percentage (%) | total_direct_kernel_time_mean | Input type | op category | num_kernels | is_recompute | overlapping_kernel_names | overlap_pct_mean";
constexpr std::string_view kUnifiedColumns =
    "name | Input Dims | operation_count | Kernel Time (µs)_sum | Percentage (%) | TFLOPS/s_mean | TB/s_mean | Pct Roofline_mean | Roofline Bound | Kernel Time (µs)_mean | Input type | op category | overlapping_kernel_names | overlap_pct_mean";

constexpr TableInfo kTables[] = {
    {.name = "gpu_timeline",
     .description = "What the GPU's time went to, from its first event to its last",
     .screen = {.place = 1, .rows = 20, .columns = "type | time ms | percent | is_recompute"},
     .compare = &kCompareTimeline,
     .make = timeline},
    {.name = "gpu_timeline_by_step",
     .description = "What the GPU's time went to, step by step",
     .group = "by-step",
     .on = Default::kOff,
     .needs = Needs::kSteps,
     .screen =
         {.place = 5,
          .rows = 12,
          .columns =
              "step | GPU time ms | percent idle | computation ms | exposed comm ms | exposed memcpy ms | idle ms | host time ms | GPU events"},
     .make = timeline_by_step},
    {.name = "gpu_timeline_by_device",
     .description =
         "What the time of each GPU went to, and of all together, from the first GPU event to the last",
     .group = "idle",
     .needs = Needs::kSeveralGpus,
     .screen = {.place = 2, .rows = 40, .columns = "device | type | time ms | percent"},
     .in_background = true,
     .make = timeline_by_device},
    {.name = "gpu_idle",
     .description = "Idle time of the GPU by the length of the gap",
     .group = "idle",
     .screen = {.place = 3, .rows = 10, .columns = kIdleColumns},
     .in_background = true,
     .make = idle_tables},
    {.name = "gpu_idle_host",
     .description = "What the launching thread was doing while the GPU was idle",
     .group = "idle",
     .screen = {.place = 4, .rows = 8, .columns = kIdleHostColumns},
     .in_background = true,
     .make = idle_tables},
    {.name = "critical_path_summary",
     .description = "What the run was bound by, along its critical path",
     .group = "path",
     .on = Default::kExtended,
     .screen = {.columns = "bound_by | name | time_ms | pct_of_window | segments"},
     .is_heavy = true,
     .make = path_summary},
    {.name = "critical_path",
     .description = "What had to wait for what, from end to end",
     .group = "path",
     .on = Default::kOff,
     .needs = Needs::kFrames,
     .screen =
         {.columns =
              "segment | start_ms | dur_us | bound_by | name | op | module | python | step | kind"},
     .make = path_segments},
    {.name = "what_if",
     .description = "What the steps would gain if work took no time",
     .group = "path",
     .on = Default::kOff,
     .needs = Needs::kOps,
     .screen = {.columns = "edit | saving_ms | saving_pct | new_window_ms"},
     .make = path_what_if},
    kGapSummaryTable,
    kStepPhasesTable,
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
    kCountersTable,
    {.name = "serving_phases",
     .description = "Prefill, mixed and decode side by side",
     .group = "serving",
     .on = Default::kExtended,
     .needs = Needs::kServing,
     .screen =
         {.place = 1,
          .rows = 8,
          .columns =
              "phase | steps | wall ms | percent of wall | GPU busy ms | GPU idle ms | GPU wait ms | bound | tokens/s of wall | output tokens/s | time per output token ms median | time per output token ms p99 | TFLOP/s | TB/s | MBU % | percent modelled | context tokens | output tokens | KV tokens per request | requests per step"},
     .compare = &kComparePhases,
     .make = serving},
    {.name = "serving_steps",
     .description = "The steps of the serving engine",
     .group = "serving",
     .on = Default::kExtended,
     .needs = Needs::kServing,
     .screen =
         {.columns =
              "step | phase | requests | context tokens | output tokens | KV tokens per request | wall ms | GPU busy ms | GPU idle ms | GPU wait ms | launch ms | graph launches | tokens/s of wall | exposed comm ms | first kernel ms"},
     .make = serving},
    {.name = "serving_ops_by_phase",
     .description = "GPU time by category of op, the phases side by side",
     .group = "serving",
     .on = Default::kExtended,
     .needs = Needs::kServing,
     .screen =
         {.place = 1,
          .rows = 12,
          .columns =
              "op category | all ms | prefill ms | mixed ms | decode ms | denoise ms | none ms | outside ms | all % | prefill % | mixed % | decode % | denoise % | none % | outside %"},
     .compare = &kCompareOpsByPhase,
     .make = serving},
    {.name = "context_growth",
     .description = "Which ops take longer with more context",
     .group = "serving",
     .on = Default::kExtended,
     .needs = Needs::kServing,
     .screen =
         {.place = 1,
          .rows = 6,
          .columns =
              "name | phase | ns per KV token | R² | growth µs | mean µs | percent at longest context | op category | steps | longest context"},
     .make = serving},
    {.name = "attention_by_context",
     .description = "GPU time of attention by context length",
     .group = "serving",
     .on = Default::kExtended,
     .needs = Needs::kServing,
     .screen =
         {.columns =
              "phase | context from | context below | steps | µs per step | ns per KV token | percent of GPU busy | attention ms"},
     .make = serving},
    {.name = "graph_stitching",
     .description = "Graph launches, and the captured ops their kernels belong to",
     .group = "graphs",
     .on = Default::kExtended,
     .screen =
         {.columns =
              "step | matched by | kernels | matched | GPU time | covered | share of GPU time | capture | reason"},
     .make = graph_tables},
    {.name = "graph_kernels",
     .description = "Kinds of GPU work inside graph launches whose kernels have no op",
     .group = "graphs",
     .on = Default::kExtended,
     .screen =
         {.place = 5,
          .rows = 8,
          .columns =
              "kernel category | GPU time | share of graph | kernels | graph | launches | launch"},
     .in_background = true,
     .make = graph_kinds},
    {.name = "ops_summary_by_category",
     .description = "GPU time by category of op, the costliest first",
     .needs = Needs::kOps,
     .screen =
         {.place = 6,
          .rows = 12,
          .columns =
              "op category | total_direct_kernel_time_ms | Percentage (%) | Count | is_recompute"},
     .compare = &kCompareOpCategories,
     .make = of_ops<ops_summary_by_category>},
    {.name = "ops_summary",
     .description = "GPU time by op, the costliest first",
     .needs = Needs::kOps,
     .screen =
         {.place = 7,
          .rows = 12,
          .columns =
              "name | total_direct_kernel_time_ms | Percentage (%) | Count | Categories | is_recompute"},
     .compare = &kCompareOps,
     .make = of_ops<ops_summary>},
    {.name = "modules",
     .description = "GPU time by nn.Module, the costliest first",
     .group = "by-module",
     .on = Default::kOff,
     .needs = Needs::kOps | Needs::kFrames | Needs::kModules,
     .screen =
         {.place = 8,
          .rows = 12,
          .columns =
              "module | GPU time ms | percent of GPU time | backward GPU time ms | own GPU time ms | calls | kernels | parent module"},
     .make = by_module},
    {.name = "ops_by_module",
     .description = "GPU time by op and class of nn.Module, the costliest first",
     .group = "by-module",
     .on = Default::kOff,
     .needs = Needs::kOps | Needs::kFrames | Needs::kModules,
     .screen =
         {.columns =
              "name | parent_module | total_direct_kernel_time_ms | Percentage (%) | Count | pass | Categories"},
     .make = by_module},
    {.name = "categories_by_module",
     .description = "GPU time by category of op and class of nn.Module, the costliest first",
     .group = "by-module",
     .on = Default::kOff,
     .needs = Needs::kOps | Needs::kFrames | Needs::kModules,
     .screen =
         {.columns =
              "op category | parent_module | total_direct_kernel_time_ms | Percentage (%) | Count | pass"},
     .make = by_module},
    {.name = "ops_by_step",
     .description = "GPU time of each op per step, the costliest first",
     .group = "by-step",
     .on = Default::kOff,
     .needs = Needs::kOps | Needs::kSteps,
     .screen =
         {.place = 9,
          .rows = 8,
          .columns =
              "name | mean µs | percent | slowest step | max µs | min µs | calls per step | op category | std µs"},
     .make = by_step},
    {.name = "ops_unique_args",
     .description = "GPU time by op and arguments, the costliest first",
     .needs = Needs::kOps,
     .screen = {.columns = kUniqueArgsColumns},
     .compare = &kCompareUniqueArgs,
     .make = of_ops<ops_unique_args>},
    {.name = "ops_unique_args_kl_overlap",
     .description = "GPU time by op, arguments and the kernels that ran beside it",
     .group = "overlap",
     .on = Default::kOff,
     .needs = Needs::kOps | Needs::kOverlap,
     .screen = {.columns = kUniqueArgsColumns},
     .make = of_ops<ops_unique_args_kl_overlap>},
    {.name = "unified_perf_summary",
     .description = "GPU time, work and rates by distinct call, the costliest first",
     .needs = Needs::kOps,
     .screen = {.columns = kUnifiedColumns},
     .compare = &kCompareUnified,
     .has_own_ops = true,
     .make = unified},
    {.name = "unified_perf_summary_kl_overlap",
     .description = "GPU time, work and rates by distinct call and what ran beside it",
     .group = "overlap",
     .on = Default::kOff,
     .needs = Needs::kOps | Needs::kOverlap,
     .screen = {.columns = kUnifiedColumns},
     .make = unified},
    {.name = "op sheets",
     .description = "Work and rates of the ops of one family by parameters, a table each",
     .needs = Needs::kOps,
     .screen = {.columns = kOpSheetColumns},
     .has_own_ops = true,
     .make = op_sheets,
     .members = op_sheet_names},
    {.name = "op sheets with overlap",
     .description = "The same with the calls apart that overlapped with other kernels",
     .group = "overlap",
     .on = Default::kOff,
     .needs = Needs::kOps | Needs::kOverlap,
     .screen = {.columns = kOpSheetColumns},
     .make = op_sheets,
     .members = overlap_sheet_names},
    {.name = "kernel_summary",
     .description = "GPU kernels by op, name and stream, the costliest first",
     .group = "kernel-summary",
     .screen =
         {.place = 15,
          .rows = 12,
          .columns =
              "Kernel name | Kernel duration (µs)_sum | Percent of kernels time (%) | Kernel duration (µs)_count | Parent cpu_op | Kernel duration (µs)_mean | Parent op category | Kernel stream | kernel_category"},
     .compare = &kCompareKernels,
     .in_background = true,
     .make = kernel_table},
    {.name = "kernel_categories",
     .description = "Kinds of GPU work by op or graph launch, by kernel names",
     .group = "kernel-categories",
     .on = Default::kOff,
     .screen =
         {.place = 13,
          .rows = 20,
          .columns =
              "Parent cpu_op | Kernel category | Kernel duration (µs)_sum | Percent of kernels time (%) | Kernel count | Calls | Share of call (%)_mean"},
     .in_background = true,
     .make = kernel_kinds},
    {.name = "short_kernel_histogram",
     .description = "How many short kernels last how long",
     .group = "short-kernels",
     .in_background = true,
     .make = short_kernels},
    {.name = "short_kernels_summary",
     .description = "Kernels so short that launching them may cost more than running them",
     .group = "short-kernels",
     .screen =
         {.columns =
              "Kernel name | Short Kernel count | Short Kernel duration (µs) sum | Short Kernel duration (µs) percent of total time | Short Kernel duration (µs) mean | Parent cpu_op | Input dims"},
     .in_background = true,
     .make = short_kernels},
    {.name = "coll_analysis",
     .description = "Communication kernels per rank by group, operation and message size",
     .group = "collectives",
     .needs = Needs::kOps | Needs::kCollectives,
     .in_background = true,
     .make = collectives},
    {.name = "memory_summary",
     .description = "Memory in use and held by the allocator of each device",
     .group = "memory",
     .on = Default::kExtended,
     .needs = Needs::kMemory,
     .screen =
         {.place = 16,
          .rows = 4,
          .columns =
              "device | peak_allocated_mb | peak_reserved_mb | initial_mb | fragmentation_pct | peak_pct_of_capacity | peak_at_ms | step | allocs"},
     .in_background = true,
     .make = memory_tables},
    {.name = "memory_peak",
     .description = "Who owned the memory in use at the peak",
     .group = "memory",
     .on = Default::kOff,
     .needs = Needs::kMemory | Needs::kFrames,
     .screen =
         {.place = 17,
          .rows = 10,
          .columns =
              "category | top op | op | module | bytes | pct_of_peak | count | line | device"},
     .on_page = true,
     .in_background = true,
     .make = memory_tables},
    {.name = "memory_churn",
     .description = "Who asked for memory, and how often",
     .group = "memory",
     .on = Default::kOff,
     .needs = Needs::kMemory | Needs::kFrames,
     .screen =
         {.columns =
              "category | top op | op | module | count | bytes | mean_life_ms | line | device"},
     .in_background = true,
     .make = memory_tables},
    {.name = "memory_timeline",
     .description = "Memory in use over time",
     .group = "memory",
     .on = Default::kOff,
     .needs = Needs::kMemory,
     .on_page = true,
     .in_background = true,
     .make = memory_tables},
    {.name = "kernel_sequences",
     .description = "Sequences of kernels that ops and nn.Modules launch",
     .group = "sequences",
     .on = Default::kOff,
     .needs = Needs::kOps | Needs::kFrames,
     .screen =
         {.place = 18,
          .rows = 10,
          .columns =
              "unit | sequence | kernels | count | gpu_ms | saving_ms | fusible | host_ms | gap_ms | short_kernels"},
     .make = sequences},
    {.name = "fusible_kernels",
     .description = "Chains of kernels that one could do, by nn.Module and phase",
     .group = "sequences",
     .on = Default::kOff,
     .needs = Needs::kOps | Needs::kFrames | Needs::kModules,
     .screen =
         {.place = 19,
          .rows = 10,
          .columns =
              "unit | phase | kind | count | kernels | time_ms | fused_ms | saving_ms | pattern | ops"},
     .make = sequences},
    kWarningsTable,
};

}  // namespace

std::span<const TableInfo> pytorch_tables() { return kTables; }

}  // namespace tracelens
