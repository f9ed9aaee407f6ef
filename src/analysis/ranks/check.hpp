// check.hpp: what does not fit together between the ranks.
//   for (const std::string& sentence : metadata_mismatches(run)) ...
//   missing_kernels(run), long_waits(run, sync), unlinked_kernels(run), process_groups(run), rank_files(run)
#pragma once

#include <span>
#include <string>
#include <tracelens/table.hpp>
#include <vector>

#include "analysis/ranks/alltoallv.hpp"
#include "analysis/ranks/run.hpp"
#include "analysis/ranks/sync.hpp"

namespace tracelens {

// Collectives whose ranks disagree on their message; one sentence each, and one for the rest when
// there are many.
[[nodiscard]] std::vector<std::string> metadata_mismatches(const CollectiveRun& run);

// Ranks that were read but lack kernels of collectives that others of their process group have; one
// sentence per group.
[[nodiscard]] std::vector<std::string> missing_kernels(const CollectiveRun& run);

// A wait that is longer than the trace of any rank, the longest of them: one sentence, or none.
// Either clocks are apart, or kernels are not one collective.
[[nodiscard]] std::vector<std::string> long_waits(const CollectiveRun& run,
                                                  std::span<const SyncCollective> rows);

// Tables that are made without columns for each rank (rank_columns.hpp): one sentence each.
[[nodiscard]] std::vector<std::string> left_out_rank_columns(
    const CollectiveRun& run, std::span<const SyncCollective> sync,
    std::span<const UnevenExchange> uneven);

// Communication kernels that are left out because nobody launched them: one sentence, or none.
[[nodiscard]] std::vector<std::string> unlinked_kernels(const CollectiveRun& run);

// One row per process group: its ranks, how their collectives were matched, and what is missing.
[[nodiscard]] Table process_groups(const CollectiveRun& run);

// One row per rank: its file and what was found in it.
[[nodiscard]] Table rank_files(const CollectiveRun& run);

}  // namespace tracelens
