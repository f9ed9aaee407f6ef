// peak.hpp: who owns the blocks of a device: those alive at its peak, or all that were handed out.
//   for (const MemoryOwner& owner : owners_at_peak(device, blocks, places)) print(owner.op, owner.bytes);
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/memory/blocks.hpp"

namespace tracelens {

// Blocks of one use, op, outermost op and class of nn.Module.
struct MemoryOwner {
  BlockUse use = BlockUse::kOther;
  std::string_view op = {}, top_op = {};  // empty: outside of all ops
  std::string module = {};     // "nn.Module: Linear" of Linear_0, Linear_1, ...; empty: none
  std::string_view line = {};  // the user's Python frame of the largest block; may be empty
  std::int64_t bytes = 0, count = 0;
  std::int64_t freed_in_step = 0;  // bytes of those taken back before their step ended
  double life_ns = 0;              // summed, of those that were taken back
  std::int64_t freed = 0;          // their number
};

// The largest first. What was in use before the trace is the owner without an op.
[[nodiscard]] std::vector<MemoryOwner> owners_at_peak(const DeviceMemory& device,
                                                      std::span<const MemoryBlock> blocks,
                                                      const MemoryPlaces& places);
// Of every block; those handed out most often first.
[[nodiscard]] std::vector<MemoryOwner> owners_of_all(const DeviceMemory& device,
                                                     std::span<const MemoryBlock> blocks,
                                                     const MemoryPlaces& places);

}  // namespace tracelens
