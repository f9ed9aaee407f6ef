// The tables of the ranks of one run: of `tracelens collectives`, whose recipe makes them together.
#include "analysis/tables/lists.hpp"

namespace tracelens {
namespace {

constexpr TableInfo kTables[] = {
    {.name = "comm_verdict",
     .description = "Is it the network, or is somebody late? By process group and operation",
     .screen = {.place = 1,
                .rows = 20,
                .columns =
                    "collective | verdict | why | late ranks | exposed (ms) | process group | "
                    "waiting (%) | bus bw (GB/s) | count | late rank was in | message (MB)"}},
    {.name = "xla_collectives",
     .description =
         "Collectives of XLA by HLO op and replica group: size, time, bandwidth, fastest and slowest rank",
     .screen =
         {.columns =
              "op | collective | sent | communication | bus bandwidth_mean | slowest rank | fastest rank | group size | runs | algorithm bandwidth_mean | group"}},
    {.name = "xla_collectives_by_type",
     .description = "Bandwidth of XLA's collectives by operation, the fastest first",
     .screen =
         {.place = 2,
          .rows = 8,
          .columns =
              "collective | sent | bus bandwidth_mean | runs | ops | algorithm bandwidth_mean"}},
    {.name = "rank_timeline_spread",
     .description = "How far the ranks' GPU times are apart, per step",
     .screen =
         {.place = 3,
          .rows = 6,
          .columns =
              "type | step | mean (ms) | mean of total (%) | max (ms) | max rank | min (ms) | "
              "min rank | ranks | std (ms)"}},
    {.name = "rank_timeline",
     .description = "What the GPU of every rank did, per step",
     .screen = {.columns = "rank | step | total_time (ms) | computation_time (ms) | "
                           "exposed_comm_time (ms) | exposed_memcpy_time (ms) | idle_time (ms) | "
                           "exposed_comm (%) | idle (%) | node_id"}},
    {.name = "p2p_summary",
     .description = "Sends and receives by pair of ranks and size",
     .screen = {.place = 5,
                .rows = 8,
                .columns = "from rank | to rank | size (MB) | count | transfer time (ms) | "
                           "bandwidth mean (GB/s) | unmatched | process group | total (MB) | "
                           "receiver wait mean (us) | sender wait mean (us)"}},
    {.name = "p2p", .description = "Sends and their receives"},
    {.name = "process_groups",
     .description = "The process groups, and what is missing of their collectives",
     .screen = {.place = 8,
                .rows = 8,
                .columns =
                    "process group | group size | ranks seen | collectives | incomplete | "
                    "transfers | unmatched transfers | matched by | fewest kernels | its rank "
                    "| most kernels"}},
    {.name = "clock_offsets",
     .description = "How far the machines' clocks are apart, from the ends of collectives",
     .screen = {.place = 7, .rows = 10}},
    {.name = "nccl_summary_implicit_sync",
     .description = "Synchronizing collectives by operation, type and size: true cost, skew and "
                    "bandwidth",
     .screen = {.place = 6,
                .rows = 12,
                .columns =
                    "Collective name | Full msg size (MB) | Total comm latency (ms) | count | "
                    "bus bw (GB/s)_mean | comm_latency_mean | skew in start time_mean | "
                    "dtype | Process Group Name | Group size | algo bw (GB/s)_mean"}},
    {.name = "nccl_summary_long",
     .description = "Communication kernels per rank by group, operation and message size",
     .screen = {.columns =
                    "Collective name | rank | dur_sum | operation_count | dur_mean | dtype | "
                    "In msg size (MB)_first | Process Group Name | Group size"}},
    {.name = "nccl_summary_all2allv",
     .description = "Uneven all-to-all exchanges by process group and type",
     .screen = {.columns = "Process Group Name | Total wall_time (ms) | count | "
                           "total data communicated (MB)_mean | throughput (GB/s)_mean | "
                           "size_imbalance_max | skew in start time_mean | dtype | Group size"}},
    {.name = "nccl_all2allv_heatmap",
     .description = "Who sends how much to whom in uneven all-to-all exchanges"},
    {.name = "nccl_long", .description = "Every communication kernel of every rank"},
    {.name = "nccl_implicit_sync",
     .description = "Collectives in which all ranks wait for the last",
     .screen = {.columns = "Collective name | Full msg size (MB) | comm_latency | bus bw (GB/s) | "
                           "skew in start time | earliest arrival rank | avg_wait_time | dtype | "
                           "Process Group Name | Group size | collective_id"}},
    {.name = "nccl_all2allv", .description = "All-to-all exchanges of uneven sizes"},
    {.name = "straggler_summary",
     .description = "Who the others wait for: the worst straggler waits least",
     .screen = {.place = 4,
                .rows = 8,
                .columns = "rank | total_wait_time_us | pct_arrived_last | times_arrived_last | "
                           "mean_wait_time_us | times_arrived_first | num_collectives | node_id"}},
    {.name = "ranks", .description = "The traces that were read"},
    kWarningsTable,
};

}  // namespace

std::span<const TableInfo> rank_tables() { return kTables; }

}  // namespace tracelens
