// p2p.hpp: sends and their receives: how fast, and which side waited.
//   p2p(run), p2p_summary(run)
// Both kernels of a transfer end together; the one that began later waited for nobody, so its
// duration is the time of the transfer.
#pragma once

#include <optional>
#include <tracelens/table.hpp>

#include "analysis/ranks/run.hpp"

namespace tracelens {

// One row per transfer; a side whose trace lacks the kernel is empty. No table without transfers.
[[nodiscard]] std::optional<Table> p2p(const CollectiveRun& run);

// One row per process group, pair of ranks and message, the costliest first.
[[nodiscard]] std::optional<Table> p2p_summary(const CollectiveRun& run);

}  // namespace tracelens
