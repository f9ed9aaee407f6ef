// counters.hpp: the hardware counters that CUPTI's range profiler wrote for each kernel.
#pragma once

#include <optional>
#include <tracelens/table.hpp>

#include "analysis/host/host_work.hpp"

namespace tracelens {

// One row per measured kernel, by time; a column per counter. None without such events.
[[nodiscard]] std::optional<Table> counters(const HostWork& work);

}  // namespace tracelens
