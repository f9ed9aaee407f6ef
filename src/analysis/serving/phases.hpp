// phases.hpp: what a serving engine did, step by step and phase by phase.
//   serving_steps(run);  serving_phases(run, modelled_work(input, run), gpu);
//   serving_ops_by_phase(run, ops);
#pragma once

#include <span>
#include <tracelens/gpu.hpp>
#include <tracelens/table.hpp>

#include "analysis/serving/run.hpp"
#include "analysis/serving/served_ops.hpp"

namespace tracelens {

// One row per step.
[[nodiscard]] Table serving_steps(const ServingRun& run);

// One row per phase, one for what is outside all steps, and one for all: the sum of the others.
// `gpu` may be null: nothing to compare the rates with.
[[nodiscard]] Table serving_phases(const ServingRun& run, std::span<const ModelledWork> modelled,
                                   const Gpu* gpu);

// One row per category of op, the phases side by side. The times add up to the busy time.
[[nodiscard]] Table serving_ops_by_phase(const ServingRun& run, const ServedOps& ops);

}  // namespace tracelens
