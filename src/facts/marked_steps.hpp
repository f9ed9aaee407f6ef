// marked_steps.hpp: the steps that the profiler marked, for which no tree is needed.
#pragma once

#include <cstdint>
#include <span>
#include <tracelens/trace.hpp>
#include <vector>

#include "facts/steps.hpp"

namespace tracelens {

// ProfilerStep#N, and the numbered steps of JAX, by start. `annotations`: rows of all. Of several processes that
// mark the same step at the same time it is one, so that steps overlap as far as the processes are apart.
[[nodiscard]] std::vector<Step> marked_steps(const Trace& trace,
                                             std::span<const std::uint32_t> annotations);

}  // namespace tracelens
