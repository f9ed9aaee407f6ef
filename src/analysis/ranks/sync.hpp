// sync.hpp: collectives in which every rank waits for the last: what they cost, and who
// was late.
//   const std::vector<SyncCollective> rows = sync_collectives(run);
//   nccl_implicit_sync(run, rows), straggler_summary(run, rows) ...
// The shortest kernel of a collective is its true cost: its rank came last and waited for nobody.
// All others also measure how long they waited.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tracelens/table.hpp>
#include <vector>

#include "analysis/ranks/aggregates.hpp"
#include "analysis/ranks/run.hpp"

namespace tracelens {

struct SyncCollective {
  std::uint32_t collective = 0;  // Matching::collectives
  std::int64_t latency_ns = 0;   // the shortest kernel
  std::int64_t start_skew_ns = 0, end_skew_ns = 0;
  std::int64_t last_start_ns = 0;
  std::int64_t wait_sum_ns = 0;    // of all ranks
  std::int64_t earliest_rank = 0;  // of equals the highest
  std::int64_t latest_rank = 0;    // of equals the lowest
  std::optional<double> full_mib = {}, algo_gibps = {}, bus_gibps = {};
};

// In order of first appearance. In simplified mode every collective counts that is not known to be
// without a barrier.
[[nodiscard]] std::vector<SyncCollective> sync_collectives(const CollectiveRun& run);

// The figures of any collective; `kind` decides what the message is.
[[nodiscard]] SyncCollective measure(const CollectiveRun& run, std::uint32_t collective,
                                     CollectiveKind kind);

// What the first of its ranks says about it.
[[nodiscard]] const CollectiveMessage& message_of(const CollectiveRun& run,
                                                  const SyncCollective& row);

// One row per collective; per rank its start, duration and wait, but for has_sparse_ranks().
[[nodiscard]] Table nccl_implicit_sync(const CollectiveRun& run,
                                       std::span<const SyncCollective> rows);
// One row per operation, type and size, whatever the process group.
[[nodiscard]] Table nccl_summary_implicit_sync(const CollectiveRun& run,
                                               std::span<const SyncCollective> rows,
                                               std::span<const Aggregate> aggregates);
// One row per rank, the one the others wait for most first; no table without collectives.
[[nodiscard]] std::optional<Table> straggler_summary(const CollectiveRun& run,
                                                     std::span<const SyncCollective> rows);

}  // namespace tracelens
