// rank_timeline.hpp: what the GPU of every rank did, side by side, per step when steps are marked.
//   rank_timeline(run), rank_timeline_spread(run)
#pragma once

#include <optional>
#include <tracelens/table.hpp>

#include "analysis/ranks/run.hpp"

namespace tracelens {

// One row per rank and step, the whole trace first. No table when no rank's GPU did anything.
[[nodiscard]] std::optional<Table> rank_timeline(const CollectiveRun& run);

// One row per step and kind of time: how far the ranks are apart, and which ones are at the ends.
[[nodiscard]] std::optional<Table> rank_timeline_spread(const CollectiveRun& run);

}  // namespace tracelens
