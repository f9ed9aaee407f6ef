// The tables of traces that are SQLite files (rocpd, rpd, Nsight Systems), in report order.
#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/database/detail_reader.hpp"
#include "analysis/database/ranges.hpp"
#include "analysis/database/summaries.hpp"
#include "analysis/gpu/timeline.hpp"
#include "analysis/rocm/rocprof_tables.hpp"
#include "analysis/tables/compare_rules.hpp"
#include "analysis/tables/context.hpp"
#include "analysis/tables/host.hpp"
#include "analysis/tables/lists.hpp"

namespace tracelens {
namespace {

std::vector<Table> timeline(TableContext& c) { return tables(c.timeline().table); }

template <auto kMake>
std::vector<Table> of_events(TableContext& c) {
  return with_rows(tables(kMake(c.database_events())));
}

// Kept also when it is empty: a file without kernels has something to say by it.
std::vector<Table> kernels(TableContext& c) {
  return tables(database_kernels(c.database_events()));
}

std::vector<Table> ranges(TableContext& c) { return database_ranges(c.database_events()); }

// rocprofv3 writes a short name beside the full one, without template arguments, which may be named
// after anything: it is asked first. A short name that says nothing leaves it to the full one.
std::vector<Table> kernel_kinds(TableContext& c) {
  const RocprofKernels& kernels = c.rocm_kernels();
  std::unordered_map<std::string_view, std::string> short_names;
  DetailReader details{kernels.trace};
  for (const EventId event : kernels.events)
    if (const Value& brief = details.of(event, "truncated_kernel_name"); brief.is_text())
      short_names.try_emplace(kernels.trace.name(event), brief.as_text());
  const KernelRules& rules = c.kernel_rules();
  const auto kind_of = [&](std::string_view kernel) {
    const auto brief = short_names.find(kernel);
    const std::string_view kind =
        brief == short_names.end() ? kOtherKernel : rules.category(brief->second);
    return kind == kOtherKernel ? rules.category(kernel) : kind;
  };
  return with_rows(tables(rocprof_category_summary(kernels, {.category = kind_of})));
}

constexpr std::string_view kNsColumns =
    "name | total_ns | percent | count | mean_ns | max_ns | median_ns | min_ns";

constexpr TableInfo kOwnTables[] = {
    {.name = "gpu_timeline",
     .description = "What the GPU's time went to, from its first event to its last",
     .screen = {.place = 1, .rows = 20},
     .compare = &kCompareTimeline,
     .make = timeline},
    {.name = "device_timeline",
     .description = "How busy each GPU was",
     .screen =
         {.place = 2,
          .rows = 16,
          .columns =
              "node | device | busy_percent | busy_ns | span_ns | idle_ns | kernels | copies"},
     .make = of_events<database_devices>},
    {.name = "gpu_idle",
     .description = "Idle time of the GPU by the length of the gap",
     .group = "idle",
     .screen = {.place = 3, .rows = 10, .columns = kIdleColumns},
     .make = idle_tables},
    {.name = "gpu_idle_host",
     .description = "What the launching thread was doing while the GPU was idle",
     .group = "idle",
     .needs = Needs::kCalls,
     .screen = {.place = 4, .rows = 8, .columns = kIdleHostColumns},
     .make = idle_tables},
    kGapSummaryTable,
    kGapsTable,
    kSyncSummaryTable,
    kSyncCallsTable,
    kGapsByStreamTable,
    kUtilizationTable,
    kQueueLengthTable,
    kQueueBlockedTable,
    {.name = "kernel_summary",
     .description = "GPU kernels by name, the costliest first",
     .screen = {.place = 15, .rows = 12, .columns = kNsColumns},
     .compare = &kCompareDatabaseKernels,
     .make = kernels},
    {.name = "kernel_summary_by_category",
     .description = "Kernels by kind of work",
     .screen = {.place = 16,
                .rows = 12,
                .columns = "op category | total_direct_kernel_time_ms | Percentage (%) | Count"},
     .compare = &kCompareKernelCategories,
     .make = kernel_kinds},
    {.name = "op_summary",
     .description = "Ops by shapes, the costliest first",
     .needs = Needs::kOps,
     .screen = {.place = 13,
                .rows = 12,
                .columns = "name | sizes | gpu_self_ns | gpu_ns | count | host_ns | gpu_ops"},
     .make = ranges},
    {.name = "range_tree",
     .description = "GPU time by the ranges the program named",
     .screen = {.place = 14,
                .rows = 16,
                .columns = "path | gpu_ns | gpu_busy_ns | gpu_self_ns | count | host_ns | gpu_ops"},
     .make = ranges},
    {.name = "collectives",
     .description = "Collectives by communicator and size of the message",
     .needs = Needs::kCollectives,
     .screen = {.place = 17, .rows = 8},
     .make = ranges},
    {.name = "launch_summary",
     .description = "Which calls launched which kernels, and how long these waited",
     .needs = Needs::kCalls,
     .screen =
         {.place = 19,
          .rows = 8,
          .columns =
              "api | kernel | count | queue_mean_ns | delay_mean_ns | api_mean_ns | delay_max_ns"},
     .make = of_events<database_launches>},
    {.name = "api_summary",
     .description = "Calls of the GPU's libraries, the costliest first",
     .needs = Needs::kCalls,
     .screen = {.place = 18, .rows = 8, .columns = kNsColumns},
     .make = of_events<database_calls>},
    {.name = "memcpy_summary",
     .description = "Copies and fills by direction, the costliest first",
     .needs = Needs::kCopies,
     .screen = {.place = 20,
                .rows = 8,
                .columns = "kind | src | dst | total_ns | bytes | gb_per_s | count | mean_ns"},
     .make = of_events<database_copies>},
    {.name = "counters",
     .description = "What the hardware counted, by kernel",
     .needs = Needs::kCounters,
     .make = of_events<database_counters>},
    {.name = "memory",
     .description = "Memory that was asked for and given back",
     .make = of_events<database_memory>},
    {.name = "graph_launches",
     .description = "Launches of captured graphs",
     .make = of_events<database_graphs>},
    {.name = "graph_ops",
     .description = "What was captured into graphs, by the op it was captured under",
     .make = of_events<database_graph_ops>},
    {.name = "counter_series",
     .description = "Clocks, sensors and counters that were measured over time",
     .make = of_events<database_series>},
    {.name = "counts", .description = "What the file holds", .make = of_events<database_counts>},
};

// Ranges of emit_nvtx are ops: their tables are those of a PyTorch trace.
constexpr std::array<std::string_view, 5> kOpTables{"ops_summary_by_category", "ops_summary",
                                                    "ops_unique_args", "unified_perf_summary",
                                                    "op sheets"};

std::vector<TableInfo> all_tables() {
  std::vector<TableInfo> list{std::begin(kOwnTables), std::end(kOwnTables)};
  for (const TableInfo& table : pytorch_tables())
    if (std::ranges::find(kOpTables, table.name) != kOpTables.end()) list.push_back(table);
  list.push_back(kWarningsTable);
  return list;
}

}  // namespace

std::span<const TableInfo> database_tables() {
  static const std::vector<TableInfo> list = all_tables();
  return list;
}

}  // namespace tracelens
