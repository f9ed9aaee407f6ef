// utilization.hpp: how busy each GPU was over time, and each stream between its own events.
#pragma once

#include <tracelens/table.hpp>

#include "analysis/host/host_work.hpp"

namespace tracelens {

// Thirty equal parts of each GPU's time; neighbours that were busy less than half are one row.
[[nodiscard]] Table gpu_utilization(const HostWork& work);

// The time between neighbours on one stream: whether the host was late, the stream took its usual
// moment between two events, or neither. For events whose launch is not in the trace it was never late.
[[nodiscard]] Table gpu_gaps_by_stream(const HostWork& work);

}  // namespace tracelens
