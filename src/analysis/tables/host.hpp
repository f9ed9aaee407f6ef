// host.hpp: the rows of the tables about what the host asked of the GPU, which several kinds of trace
// have.
#pragma once

#include <string_view>
#include <tracelens/table.hpp>
#include <vector>

#include "analysis/tables/table_info.hpp"

namespace tracelens {

namespace host_tables {
[[nodiscard]] std::vector<Table> gap_summary(TableContext& c);
[[nodiscard]] std::vector<Table> steps(TableContext& c);
[[nodiscard]] std::vector<Table> more(TableContext& c);
}  // namespace host_tables

// In the report of every trace with launches; of ROCm traces as one of the tables about activity.
inline constexpr TableInfo kGapSummaryTable = {
    .name = "gpu_gap_summary",
    .description = "Idle time of the GPU by what the host did",
    .group = "host",
    .on = Default::kExtended,
    .screen = {.columns = "part | idle_ms | percent_of_idle | percent_of_span | gaps | device"},
    .in_background = true,
    .make = host_tables::gap_summary};
inline constexpr TableInfo kStepPhasesTable = {
    .name = "step_phases",
    .description = "What each step was made of, on the host and on the GPU",
    .group = "host",
    .on = Default::kExtended,
    .screen =
        {.columns =
             "step | wall_ms | gpu_busy_ms | gpu_idle_ms | launches | kernels | syncs | dataloader_ms | optimizer_host_ms | optimizer_gpu_ms | forward_gpu_ms | backward_gpu_ms | comm_exposed_ms | short_kernels | graph_coverage_pct | optimizer_kernels"},
    .in_background = true,
    .make = host_tables::steps};

// Only when asked for.
constexpr TableInfo host_table(std::string_view name, std::string_view description,
                               std::string_view columns = {}) {
  return {.name = name,
          .description = description,
          .group = "host",
          .on = Default::kOff,
          .screen = {.columns = columns},
          .in_background = true,
          .make = host_tables::more};
}
inline constexpr TableInfo kGapsTable = host_table(
    "gpu_gaps", "Long gaps between GPU work, and what the host did",
    "start_ms | gap_us | cause | drained | next_op | op_during | python_during | next_kernel | step | device");
inline constexpr TableInfo kGapsByStreamTable = host_table(
    "gpu_gaps_by_stream", "Idle time between the events of each stream, and what it waited for",
    "stream | idle_category | idle_time | idle_time_ratio | count | mean | 50% | max | device");
inline constexpr TableInfo kUtilizationTable =
    host_table("gpu_utilization", "How busy each GPU was, in 30 parts of its time");
inline constexpr TableInfo kSyncSummaryTable = host_table(
    "sync_summary", "Where the host waits for the GPU, the longest first",
    "call | count | wait_us | waited_us | drained | idle_after_us | top_op | python | direction | op | module");
inline constexpr TableInfo kSyncCallsTable = host_table(
    "sync_calls", "Calls in which the host waited for the GPU",
    "start_ms | call | wait_us | waited_us | idle_after_us | round_trip | direction | bytes | top_op | python | step");
inline constexpr TableInfo kLaunchSummaryTable = host_table(
    "launch_summary", "Launches by call: how long calls, work and delays take",
    "call | count | cpu_duration_p50 | gpu_duration_p50 | launch_delay_p50 | short | runtime_outlier | delay_outlier | queued | starved | device");
inline constexpr TableInfo kLaunchStatsTable = host_table(
    "launch_stats", "Launch calls and the GPU work of each",
    "call | kernel | cpu_duration | gpu_duration | launch_delay | queue_at_launch | op | stream | device");
inline constexpr TableInfo kQueueLengthTable = host_table(
    "queue_length", "How much launched work waited on each stream",
    "stream | time_mean | time_at_zero_pct | time_p50 | time_p90 | max | mean | count | device");
inline constexpr TableInfo kQueueSeriesTable =
    host_table("queue_length_series", "How much launched work waited, change by change");
inline constexpr TableInfo kQueueBlockedTable =
    host_table("queue_blocked", "Streams whose launch queue was full, and what it cost");
inline constexpr TableInfo kCopyBandwidthTable = host_table(
    "copy_bandwidth", "Copies and fills by kind of memory: how much, how fast, and who waited",
    "kind | memory | count | bytes | time_ms | exposed_ms | GB/s_mean | GB/s_p50 | host_blocked_ms | small_count | device");
inline constexpr TableInfo kCopySeriesTable =
    host_table("copy_bandwidth_series", "Bandwidth of copies and fills over time");
inline constexpr TableInfo kCopyLevelsTable =
    host_table("copy_bandwidth_levels", "How the bandwidth of copies and fills is spread");
inline constexpr TableInfo kAnnotationsTable = host_table(
    "annotations", "Ranges the program named: their time on the host, and the GPU work in them");
inline constexpr TableInfo kCountersTable =
    host_table("counters", "Hardware counters of single kernels");

// The same table where tables belong to a view.
constexpr TableInfo in_view(TableInfo table, std::string_view view) {
  table.view = view;
  return table;
}

}  // namespace tracelens
