// steps.hpp: the steps of a JAX program (StepTraceAnnotation): host time against GPU time.
//   if (auto table = jax_steps(trace)) add(*std::move(table));
#pragma once

#include <optional>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>

namespace tracelens {

// A row per step, by host and time. A step owns the GPU work that was launched while it lasted;
// work whose launch was not recorded goes to no step. No table when the program marks no steps.
[[nodiscard]] std::optional<Table> jax_steps(const Trace& trace);

}  // namespace tracelens
