// match_together.hpp: the collectives of ranks that several processes have between them.
//   const Matching matching = match_together({own_ranks, their_indices, all}, peers);
// A group belongs to one process, by a hash of its name and members. Every process sends the kernels
// of its ranks to the owners of their groups; these match them, and tell the first where each
// kernel stands. The first process gets what match_collectives() makes of all ranks; the others
// get nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tracelens/collectives.hpp>

#include "analysis/ranks/matching.hpp"
#include "analysis/ranks/rank_trace.hpp"

namespace tracelens {

// What a process has of the ranks of a run.
struct RankShare {
  std::span<const RankTrace> ranks;        // by rank
  std::span<const std::uint32_t> indices;  // their places among all ranks of the run, by rank
  std::size_t all = 0;                     // how many these are
};

// All processes call it at the same time.
[[nodiscard]] Matching match_together(const RankShare& share, Peers& peers);

}  // namespace tracelens
