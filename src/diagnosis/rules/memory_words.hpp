// memory_words.hpp: who owns what is in use at a device's peak, as places of a finding.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/memory/peak.hpp"
#include "diagnosis/kit/context.hpp"

namespace tracelens {

constexpr double kMib = 1024.0 * 1024.0;
[[nodiscard]] inline double in_mib(std::int64_t bytes) { return static_cast<double>(bytes) / kMib; }
[[nodiscard]] inline double in_mb(std::int64_t bytes) { return static_cast<double>(bytes) / 1e6; }

// Devices that are GPUs; the CPU's allocator has no number.
[[nodiscard]] inline bool is_gpu_memory(const DeviceMemory& device) { return device.device >= 0; }

[[nodiscard]] inline std::vector<MemoryOwner> owners_of_peak(const DiagnosisContext& c,
                                                             const DeviceMemory& device) {
  const MemoryPlaces places{c.facts};
  return owners_at_peak(device, memory_blocks(device, places), places);
}

// The largest five, without what lives from before the trace.
[[nodiscard]] inline std::vector<FindingPlace> largest_owners(const DiagnosisContext& c,
                                                              const DeviceMemory& device) {
  std::vector<FindingPlace> found;
  for (const MemoryOwner& owner : owners_of_peak(c, device)) {
    if (found.size() == 5) break;
    if (owner.use == BlockUse::kBeforeTrace) continue;
    const std::string_view op = owner.op.empty() ? owner.top_op : owner.op;
    found.push_back({.kind = "op",
                     .name = op.empty() ? "outside of all ops" : std::string{op},
                     .python = std::string{owner.line},
                     .module = owner.module,
                     .count = owner.count});
  }
  return found;
}

}  // namespace tracelens
