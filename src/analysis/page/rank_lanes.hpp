// rank_lanes.hpp: what the GPUs of all ranks of a job did, as a page shows it.
//   finish_lane(rank.lane, 2'000);            // when its trace has been read
//   report.page = std::make_shared<const Page>(ranks_page(run.ranks()));
#pragma once

#include <cstddef>
#include <span>
#include <tracelens/page.hpp>

#include "analysis/ranks/rank_trace.hpp"

namespace tracelens {

// Puts the slices into rows and thins them to a share.
void finish_lane(RankLane& lane, std::size_t share);

// A lane for each rank, a group each, by the clocks as they are now. Strips of at most 16 ranks: those
// that computed most and least, and others evenly between.
[[nodiscard]] Page ranks_page(std::span<const RankTrace> ranks);

}  // namespace tracelens
