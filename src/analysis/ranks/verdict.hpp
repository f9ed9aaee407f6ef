// verdict.hpp: is it the network, or is somebody late? One answer per process group and
// operation.
//   const std::optional<Table> table = comm_verdict(run, {.link_gbps = 450});
// A collective's time on a rank is communication (what the rank that came last needs), waiting for
// that rank, and either of them hurts only while nothing computes.
//   hidden behind computation                    -> fine
//   exposed, mostly waiting                      -> imbalance: see what the late rank was doing
//   exposed, little waiting, tiny messages       -> latency: fewer and larger messages
//   exposed, little waiting, low bandwidth       -> network
//   exposed, little waiting, good bandwidth      -> overlap: start earlier, or compute meanwhile
//   kernels without a name that are not one operation -> unknown
// Between little and most, "imbalance" is the second word. The reason beside it gives the figures
// the verdict rests on.
#pragma once

#include <optional>
#include <tracelens/table.hpp>

#include "analysis/ranks/run.hpp"

namespace tracelens {

struct VerdictOptions {
  // Peak of a rank's link in one direction, 10^9 bytes per s. None: inside one machine that of the
  // GPU the traces name, where it is known.
  std::optional<double> link_gbps = {};
};

// The costliest first, by exposed time. Clocks should be corrected. No table without collectives.
[[nodiscard]] std::optional<Table> comm_verdict(const CollectiveRun& run,
                                                const VerdictOptions& options);

}  // namespace tracelens
