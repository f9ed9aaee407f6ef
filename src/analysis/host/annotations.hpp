// annotations.hpp: the ranges that the program named (record_function, NVTX and the like): how long
// they took on the host, and the GPU what was launched meanwhile.
#pragma once

#include <tracelens/table.hpp>

#include "analysis/host/host_work.hpp"

namespace tracelens {

// One row per name, the costliest first. A process's GPU work belongs to every range of that process
// that is open when it is launched, whatever the thread: autograd launches for the thread that waits.
[[nodiscard]] Table annotations(const HostWork& work);

}  // namespace tracelens
