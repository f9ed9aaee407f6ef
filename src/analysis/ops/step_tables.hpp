// step_tables.hpp: the steps of the recorded loop side by side: which one was slow, and by what.
//   gpu_timeline_by_step(facts, facts.steps());  ops_by_step(input, facts.steps());
// GPU work belongs to the step in which it was launched, on whatever thread; work that runs over
// the end of its step still counts there.
#pragma once

#include <span>
#include <tracelens/table.hpp>

#include "analysis/ops/input.hpp"

namespace tracelens {

// One row per step. `steps` must be in order of time.
[[nodiscard]] Table gpu_timeline_by_step(const TraceFacts& facts, std::span<const Step> steps,
                                         bool include_unlinked = false);

// One row per op: its GPU time in a step, and in which step it took longest.
[[nodiscard]] Table ops_by_step(OpInput& input, std::span<const Step> steps);

}  // namespace tracelens
