// ranges.hpp: GPU time by the ranges the program named: as a tree, by op and shapes, by collective.
#pragma once

#include <tracelens/table.hpp>
#include <vector>

#include "analysis/database/database_events.hpp"

namespace tracelens {

// range_tree, op_summary and collectives, as far as they have rows.
[[nodiscard]] std::vector<Table> database_ranges(const DatabaseEvents& events);

}  // namespace tracelens
