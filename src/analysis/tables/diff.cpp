// The tables of two traces aligned: of `tracelens diff`, whose recipe makes them together. Traces
// without ops have the compared tables of their reports instead.
#include "analysis/tables/lists.hpp"

namespace tracelens {
namespace {

constexpr TableInfo kTables[] = {
    {.name = "ops_diff",
     .description = "GPU time by op and shape in both traces, the largest change first",
     .needs = Needs::kOps,
     .screen =
         {.place = 1,
          .rows = 15,
          .columns =
              "name | diff | time_trace1 | time_trace2 | Input Dims | diff_pct | verdict | calls_trace1 | calls_trace2 | share_of_change | Input type"}},
    {.name = "modules_diff",
     .description = "GPU time by nn.Module in both traces",
     .needs = Needs::kOps | Needs::kModules,
     .screen =
         {.place = 2,
          .rows = 15,
          .columns =
              "module | diff | diff_pct | time_trace1 | time_trace2 | calls_trace1 | calls_trace2"}},
    {.name = "annotations_diff",
     .description = "GPU time by user annotation in both traces",
     .needs = Needs::kOps,
     .screen =
         {.place = 3,
          .rows = 15,
          .columns =
              "annotation | diff | diff_pct | time_trace1 | time_trace2 | calls_trace1 | calls_trace2"}},
    {.name = "substitutions",
     .description = "What took the place of what, the costliest first",
     .needs = Needs::kOps,
     .screen = {.place = 4,
                .rows = 15,
                .columns = "trace1 | trace2 | diff | time_trace1 | time_trace2 | count | where"}},
    {.name = "diff_stats",
     .description = "GPU work below every point where the two traces part",
     .needs = Needs::kOps,
     .screen = {.columns = "name | cpu_op_name | source | kernel_time | busy_time | "
                           "lowest_common_ancestor_name | Input Dims | nn_module_parent"}},
    {.name = "diff_stats_unique_args_summary",
     .description = "GPU work where the traces part, by op and kernel",
     .needs = Needs::kOps,
     .screen = {.columns = "name | cpu_op_name | source | kernel_time_sum | operation_count | "
                           "kernel_time_mean | lowest_common_ancestor_name | Input Dims"}},
    {.name = "gpu_timeline",
     .description = "What the GPU's time went to in both traces",
     .screen = {.place = 5, .rows = 15}},
    {.name = "ops_summary_by_category",
     .description = "GPU time by category of op in both traces",
     .needs = Needs::kOps,
     .screen = {.place = 6, .rows = 15}},
    {.name = "hlo_ops_by_kind",
     .description = "GPU time by what the HLO ops compute in both traces",
     .screen = {.place = 7, .rows = 15}},
    {.name = "hlo_ops",
     .description = "GPU time of every HLO op in both traces",
     .screen = {.place = 8, .rows = 15}},
    {.name = "kernel_summary_by_category",
     .description = "GPU time by category of kernel in both traces",
     .screen = {.place = 9, .rows = 15}},
    {.name = "kernel_summary",
     .description = "GPU time by kernel in both traces",
     .screen = {.place = 10, .rows = 15}},
    {.name = "diff_counts",
     .description =
         "How often each op, call and kernel ran in both traces, the largest change first",
     .screen =
         {.columns =
              "name | device | diff_counts | diff_duration | control_counts | test_counts | control_total_duration | test_total_duration | change"}},
    kWarningsTable,
};

}  // namespace

std::span<const TableInfo> diff_tables() { return kTables; }

}  // namespace tracelens
