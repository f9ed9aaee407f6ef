// xla_bandwidth.hpp: how fast the collectives of XLA were, op by op and group by group.
//   add(xla_collectives(run)); add(xla_collectives_by_type(run));
// A run of an op in a group takes as long as its shortest kernel: the rank that came last waited for
// nobody. Bandwidths are those of the Python TraceLens's JaxNcclAnalyser: the bytes a rank reads and
// writes over that time, and that times (n - 1)/n, of an all-reduce twice that, of a permutation
// once. D is what a rank sends, n the size of the group:
//   all-gather 2 D (n - 1), all-reduce 2 D, reduce-scatter D + D/n, all-to-all 2 D (n - 1)/n,
//   collective-permute 2 D, other D
#pragma once

#include <optional>
#include <tracelens/table.hpp>

#include "analysis/ranks/run.hpp"

namespace tracelens {

// One row per op and group, in order of appearance; no table where the traces name no HLO ops.
[[nodiscard]] std::optional<Table> xla_collectives(const CollectiveRun& run);

// One row per operation, the fastest first: the runs of its ops, each the mean over its groups.
[[nodiscard]] std::optional<Table> xla_collectives_by_type(const CollectiveRun& run);

}  // namespace tracelens
