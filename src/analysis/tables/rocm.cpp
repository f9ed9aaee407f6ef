// The tables of ROCm traces, in report order: of a timeline (.pftrace, or JSON of the same events),
// and of rocprofv3's results.
#include "analysis/gpu/timeline.hpp"
#include "analysis/kit/cells.hpp"
#include "analysis/rocm/api_latency.hpp"
#include "analysis/rocm/hip_streams.hpp"
#include "analysis/rocm/kernel_counters.hpp"
#include "analysis/rocm/memory_copy.hpp"
#include "analysis/rocm/rocprof_processes.hpp"
#include "analysis/rocm/rocprof_tables.hpp"
#include "analysis/tables/compare_rules.hpp"
#include "analysis/tables/context.hpp"
#include "analysis/tables/host.hpp"
#include "analysis/tables/lists.hpp"

namespace tracelens {
namespace {

RocprofSummaryOptions summary_options(TableContext& c) {
  if (!c.is_extended()) return {.edition = Edition::kReference};
  return {.category = c.kernel_rules()};
}

std::vector<Table> timeline(TableContext& c) { return tables(c.timeline().table); }

// Of the GPU's work, as of any other trace; beside it how long the processes ran.
std::vector<Table> profile_timeline(TableContext& c) {
  Table table = c.timeline().table;
  table.add_row("run_time", ms(c.rocm_kernels().run_ns), kMissing);
  return tables(std::move(table));
}

std::vector<Table> timeline_by_device(TableContext& c) {
  TimelineOptions options{.include_unlinked = true};
  if (c.kind == TraceKind::kRocmTimeline) options = c.timeline_options();
  return with_rows(tables(gpu_timeline_by_device(c.facts, options)));
}

std::vector<Table> processes(TableContext& c) {
  if (c.rocm_kernels().processes <= 1) return {};
  return with_rows(tables(processes_table(c.trace)));
}

std::vector<Table> streams(TableContext& c) { return with_rows(tables(gpu_streams(c.trace))); }

template <auto kMake>
std::vector<Table> of_activity(TableContext& c) {
  return with_rows(tables(kMake(c.rocm_activity())));
}

std::vector<Table> profile_kernels(TableContext& c) {
  return with_rows(tables(rocprof_kernel_summary(c.rocm_kernels(), summary_options(c))));
}

std::vector<Table> kernel_categories(TableContext& c) {
  return with_rows(tables(rocprof_category_summary(c.rocm_kernels(), summary_options(c))));
}

std::vector<Table> counters(TableContext& c) {
  return with_rows(tables(kernel_counters(c.rocm_kernels())));
}

std::vector<Table> kernel_details(TableContext& c) {
  return with_rows(tables(rocprof_kernel_details(c.rocm_kernels())));
}

std::vector<Table> short_kernels(TableContext& c) {
  const RocprofKernels& kernels = c.rocm_kernels();
  return with_rows(tables(
      rocprof_short_kernels(kernels, c.options.short_kernel_us),
      rocprof_short_histogram(kernels, c.options.short_kernel_us, c.options.histogram_bins)));
}

std::vector<Table> launches(TableContext& c) {
  return with_rows(tables(api_kernel_summary(c.rocm_events(), c.rocm_launches()),
                          queue_delay(c.rocm_events(), c.rocm_launches())));
}

std::vector<Table> copies(TableContext& c) {
  return with_rows(tables(memory_copy_by_copy_bytes(c.rocm_copies()),
                          memory_copy_sizes(c.rocm_copies()),
                          memory_copy_bandwidth(c.rocm_copies())));
}

// --- rows that both kinds have ---

constexpr TableInfo kByDevice = {
    .name = "gpu_timeline_by_device",
    .description =
        "What the time of each GPU went to, and of all together, from the first GPU event to the last",
    .needs = Needs::kSeveralGpus,
    .view = "activity",
    .screen = {.place = 2, .rows = 40, .columns = "device | type | time ms | percent"},
    .make = timeline_by_device};
constexpr TableInfo kIdle = {.name = "gpu_idle",
                             .description = "Idle time of the GPU by the length of the gap",
                             .group = "idle",
                             .on = Default::kExtended,
                             .view = "activity",
                             .screen = {.place = 3, .rows = 10, .columns = kIdleColumns},
                             .make = idle_tables};
constexpr TableInfo kIdleHost = {
    .name = "gpu_idle_host",
    .description = "What the launching thread was doing while the GPU was idle",
    .group = "idle",
    .on = Default::kExtended,
    .needs = Needs::kCalls,
    .view = "activity",
    .screen = {.place = 4, .rows = 8, .columns = kIdleHostColumns},
    .make = idle_tables};
constexpr TableInfo kStreams = {
    .name = "gpu_streams",
    .description = "How busy each stream of each GPU was",
    .view = "activity",
    .screen =
        {.columns =
             "GPU | stream | busy | busy share | kernels | longest gap | idle gaps | copies | span"},
    .make = streams};
constexpr TableInfo kKernelCategories = {
    .name = "kernel_summary_by_category",
    .description = "Kernels by kind of work",
    .view = "activity",
    .screen = {.place = 16,
               .rows = 12,
               .columns = "op category | total_direct_kernel_time_ms | Percentage (%) | Count"},
    .compare = &kCompareKernelCategories,
    .make = kernel_categories};
constexpr TableInfo kHipCalls = {
    .name = "hip_summary",
    .description = "HIP calls on the host: how long and how often",
    .needs = Needs::kCalls,
    .view = "activity",
    .screen = {.place = 17,
               .rows = 8,
               .columns =
                   "Name | Total Time (ns) | Time % | Instances | Avg (ns) | Max (ns) | Med (ns)"},
    .compare = &kCompareHipCalls,
    .make = of_activity<hip_summary>};
constexpr TableInfo kCounters = {.name = "kernel_counters",
                                 .description = "What the hardware counted, by kernel",
                                 .needs = Needs::kCounters,
                                 .view = "activity",
                                 .make = counters};
constexpr TableInfo kLaunches = {
    .name = "api_kernel_summary",
    .description = "HIP calls and the kernels they launched: call, wait, run",
    .needs = Needs::kCalls,
    .view = "api",
    .make = launches};
constexpr TableInfo kQueueDelay = {
    .name = "queue_delay",
    .description = "How long kernels waited after they were launched",
    .needs = Needs::kCalls,
    .view = "api",
    .screen =
        {.place = 18,
         .rows = 8,
         .columns =
             "GPU | stream | launches | mean | p50 | p99 | max | started at once | p90 | p95"},
    .make = launches};
constexpr TableInfo kCopies = {.name = "memory_copy_by_copy_bytes",
                               .description = "Memory copies by size and direction",
                               .needs = Needs::kCopies,
                               .view = "memcpy",
                               .make = copies};
constexpr TableInfo kCopySizes = {
    .name = "memory_copy_sizes",
    .description = "How fast memory was copied, by direction and size",
    .needs = Needs::kCopies,
    .view = "memcpy",
    .make = copies};
constexpr TableInfo kCopyRates = {
    .name = "memory_copy_bandwidth",
    .description = "How fast memory was copied, by direction",
    .needs = Needs::kCopies,
    .view = "memcpy",
    .screen = {.place = 19,
               .rows = 8,
               .columns = "direction | size | time | bandwidth | best | count | mean"},
    .make = copies};

// The Python TraceLens has it of results, but not of timelines.
constexpr TableInfo kTimelineCategories = [] {
  TableInfo table = kKernelCategories;
  table.on = Default::kExtended;
  return table;
}();

constexpr TableInfo kTimelineTables[] = {
    {.name = "gpu_timeline",
     .description = "What the GPU's time went to, from its first event to its last",
     .view = "activity",
     .screen = {.place = 1, .rows = 20},
     .compare = &kCompareTimeline,
     .make = timeline},
    kByDevice,
    kIdle,
    kIdleHost,
    in_view(kGapSummaryTable, "activity"),
    in_view(kGapsTable, "activity"),
    in_view(kSyncSummaryTable, "activity"),
    in_view(kSyncCallsTable, "activity"),
    in_view(kGapsByStreamTable, "activity"),
    in_view(kUtilizationTable, "activity"),
    in_view(kLaunchSummaryTable, "activity"),
    in_view(kLaunchStatsTable, "activity"),
    in_view(kQueueLengthTable, "activity"),
    in_view(kQueueSeriesTable, "activity"),
    in_view(kQueueBlockedTable, "activity"),
    in_view(kCopyBandwidthTable, "activity"),
    in_view(kCopySeriesTable, "activity"),
    in_view(kCopyLevelsTable, "activity"),
    kStreams,
    {.name = "category_summary",
     .description = "GPU time by kind of kernel; communication hidden behind compute",
     .view = "activity",
     .screen =
         {.place = 14,
          .rows = 14,
          .columns =
              "Category | Total runtime (ms) | Fraction of total runtime | Total count | GPU ID | Fraction of compute runtime"},
     .compare = &kCompareActivity,
     .make = of_activity<category_summary>},
    {.name = "xla_top",
     .description = "XLA kernels that took most time, on all GPUs",
     .view = "activity",
     .make = of_activity<xla_top>},
    {.name = "kernel_summary",
     .description = "GPU kernels: how long, how often, with which launch configuration",
     .view = "activity",
     .screen =
         {.place = 15,
          .rows = 12,
          .columns =
              "Name | Total Time (ns) | Time % | Instances | Avg (ns) | Max (ns) | GridX | BlockX"},
     .compare = &kCompareHipKernels,
     .make = of_activity<pftrace_kernel_summary>},
    kTimelineCategories,
    kHipCalls,
    kCounters,
    kLaunches,
    kQueueDelay,
    kCopies,
    kCopySizes,
    kCopyRates,
    kWarningsTable,
};

constexpr TableInfo kResultTables[] = {
    {.name = "gpu_timeline",
     .description =
         "What the GPU's time went to, from its first event to its last, and how long the processes ran",
     .view = "activity",
     .screen = {.place = 1, .rows = 20},
     .compare = &kCompareTimeline,
     .make = profile_timeline},
    kByDevice,
    kIdle,
    kIdleHost,
    in_view(kGapSummaryTable, "activity"),
    in_view(kGapsTable, "activity"),
    in_view(kSyncSummaryTable, "activity"),
    in_view(kSyncCallsTable, "activity"),
    in_view(kGapsByStreamTable, "activity"),
    in_view(kUtilizationTable, "activity"),
    in_view(kLaunchSummaryTable, "activity"),
    in_view(kLaunchStatsTable, "activity"),
    in_view(kQueueLengthTable, "activity"),
    in_view(kQueueSeriesTable, "activity"),
    in_view(kQueueBlockedTable, "activity"),
    in_view(kCopyBandwidthTable, "activity"),
    in_view(kCopySeriesTable, "activity"),
    in_view(kCopyLevelsTable, "activity"),
    {.name = "processes",
     .description = "What each process of the profile ran",
     .needs = Needs::kSeveralProcesses,
     .view = "activity",
     .make = processes},
    kStreams,
    {.name = "kernel_summary",
     .description = "Kernels by the time they took",
     .view = "activity",
     .screen =
         {.place = 15,
          .rows = 12,
          .columns =
              "name | Total Kernel Time (ms) | Percentage (%) | Count | Mean Kernel Time (µs) | Category | Max Kernel Time (µs)"},
     .compare = &kCompareRocprofKernels,
     .make = profile_kernels},
    kKernelCategories,
    kCounters,
    {.name = "kernel_details",
     .description = "Single dispatches, the longest first",
     .group = "kernel-details",
     .on = Default::kOff,
     .view = "activity",
     .make = kernel_details},
    {.name = "short_kernels_summary",
     .description = "Kernels too short to be worth their launch",
     .group = "short-kernels",
     .view = "activity",
     .make = short_kernels},
    {.name = "short_kernel_histogram",
     .description = "How many short kernels last how long",
     .group = "short-kernels",
     .view = "activity",
     .make = short_kernels},
    kHipCalls,
    kLaunches,
    kQueueDelay,
    kCopies,
    kCopySizes,
    kCopyRates,
    kWarningsTable,
};

}  // namespace

std::span<const TableInfo> rocm_timeline_tables() { return kTimelineTables; }
std::span<const TableInfo> rocprof_result_tables() { return kResultTables; }

}  // namespace tracelens
