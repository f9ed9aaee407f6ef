#include "report/recipes/folded_columns.hpp"

#include <algorithm>

namespace tracelens {
namespace {

constexpr std::size_t kWideTable = 20;  // columns that are all open
constexpr std::size_t kFewestOpen = 4;  // fewer: the table is none of those the list is about

// Where a column is there for each of several aggregates, the mean stands for all of them.
constexpr std::string_view kOpen[] = {
    // what it is
    "name",
    "op category",
    "HLO op",
    "kind",
    "scope",
    "Collective name",
    "Process Group Name",
    "collective_id",
    "rank",
    "overlapping_kernel_names",
    "overlapping_kernel_names_first",
    // its shape
    "Input Dims",
    "dtype",
    "Group size",
    "Full msg size (MB)",
    "total data communicated (MB)",
    "total data communicated (MB)_mean",
    "In msg size (MB)_first",
    // how often and how long
    "operation_count",
    "name_count",
    "runs",
    "count",
    "Kernel Time (µs)_sum",
    "total_direct_kernel_time_sum",
    "GPU time (µs)_sum",
    "Total comm latency (ms)",
    "Total wall_time (ms)",
    "comm_latency",
    "comm_latency_mean",
    "wall_time (us)",
    "wall_time (us)_mean",
    "avg_wait_time",
    "skew in start time",
    "skew in start time_mean",
    "earliest arrival rank",
    "dur_sum",
    "dur_mean",
    // its share, its rates and how close they come to the roof
    "Percentage (%)",
    "overlap_pct_mean",
    "TFLOPS/s",
    "TFLOPS/s_mean",
    "TB/s",
    "TB/s_mean",
    "algo bw (GB/s)",
    "algo bw (GB/s)_mean",
    "bus bw (GB/s)",
    "bus bw (GB/s)_mean",
    "throughput (GB/s)",
    "throughput (GB/s)_mean",
    "Pct Roofline",
    "Pct Roofline_mean",
    "Roofline Bound",
    "Roofline Bound_first",
};

// The parameters of a family are its shape; strides and types are not.
bool is_shape(std::string_view column) {
  return column.starts_with("param: ") && column.find("stride") == column.npos &&
         column.find("dtype") == column.npos;
}

bool is_open(std::string_view column) {
  return is_shape(column) || std::ranges::find(kOpen, column) != std::end(kOpen);
}

}  // namespace

bool is_folded_in_report(const Table& table, std::string_view column) {
  if (table.columns().size() <= kWideTable || is_open(column)) return false;
  const auto open = std::ranges::count_if(
      table.columns(), [](const Table::Column& each) { return is_open(each.spec().name); });
  return static_cast<std::size_t>(open) >= kFewestOpen;
}

}  // namespace tracelens
