// cost.hpp: what each operation of each process group costs its ranks, and who is late.
//   for (const OperationCost& operation : operation_costs(run)) operation.wait_ns ...
// A rank's kernel is communication plus waiting for the last rank. Nobody knows how the two mix
// inside a kernel, but waiting ends when the last rank starts, and is at most what the kernel takes
// beyond the shortest of its collective: so the two never add up to more than the time that passed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/ranks/run.hpp"

namespace tracelens {

// All collectives of one operation in one process group.
struct OperationCost {
  std::uint32_t group = 0;  // Matching::groups
  std::string name;         // "unknown" when the traces do not name it
  CollectiveKind kind = CollectiveKind::kUnknown;
  CollectiveMember first;
  std::int64_t count = 0;
  std::int64_t communication_ns = 0;               // the shortest kernel of each collective
  double dur_ns = 0, wait_ns = 0, exposed_ns = 0;  // per rank: means of the members, summed up
  std::optional<double> bytes, bus_bytes;  // of the messages; bus_bytes: as the links carry them
  double moving_ns = 0;                    // time in which bus_bytes moved
  // Collectives that a rank had left before the last one came: there, nobody waited for the last.
  std::int64_t left_before_last = 0;
  std::int64_t largest_skew_ns = 0;                                   // between the ranks' starts
  std::map<std::int64_t, std::int64_t> late_count;                    // by rank
  std::map<std::int64_t, std::map<std::string, std::int64_t>> doing;  // by late rank: what, ns

  [[nodiscard]] double mean_bytes() const { return bytes.value_or(0) / static_cast<double>(count); }
  [[nodiscard]] std::optional<double> bus_gbps() const;  // 10^9 bytes per second
  [[nodiscard]] double waiting_share() const { return dur_ns > 0 ? wait_ns / dur_ns : 0; }
};

// By group, then by name. Sends and receives, and collectives that only one rank has, are left out.
// Clocks should be corrected.
[[nodiscard]] std::vector<OperationCost> operation_costs(const CollectiveRun& run);

}  // namespace tracelens
