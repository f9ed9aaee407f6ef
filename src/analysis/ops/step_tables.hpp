// step_tables.hpp: the steps of the recorded loop side by side: which one was slow, and by what.
//   const std::vector<Step> steps = find_steps(trace, tree);
//   gpu_timeline_by_step(trace, tree, steps);  ops_by_step(input, steps);
// GPU work belongs to the step in which it was launched, on whatever thread; work that runs over
// the end of its step still counts there.
#pragma once

#include <span>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>

#include "analysis/kit/steps.hpp"
#include "analysis/ops/input.hpp"

namespace tracelens {

// One row per step. `steps` must be in order of time.
[[nodiscard]] Table gpu_timeline_by_step(const Trace& trace, const Tree& tree,
                                         std::span<const Step> steps);

// One row per op: its GPU time in a step, and in which step it took longest.
[[nodiscard]] Table ops_by_step(OpInput& input, std::span<const Step> steps);

}  // namespace tracelens
