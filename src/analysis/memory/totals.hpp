// totals.hpp: what the allocator of each device held over time, from the trace's [memory] events.
//   for (const DeviceMemory& device : memory_devices(trace))
//     print(device.name(), device.peak_allocated, device.initial);
// What lives from before the trace began is a number without owners: DeviceMemory::initial.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

struct DeviceMemory {
  std::int16_t type = 0, device = -1;
  std::vector<std::uint32_t> order;  // positions in Trace::memory_changes(), by time

  std::int64_t initial = 0;  // in use before the first event
  // Place in `order` of the first maximum of what is in use; none: it was before the first event.
  std::optional<std::size_t> peak;
  std::int64_t peak_ts_ns = 0, peak_allocated = 0, reserved_at_peak = 0;
  std::int64_t peak_reserved = 0;
  std::int64_t allocs = 0, frees = 0, violations = 0;  // lost events show as a total that jumps
  double allocated_bytes = 0;                          // of all that was handed out
  std::int64_t capacity = 0;                           // of the device; 0: the trace does not say

  // Held but not in use at the peak.
  [[nodiscard]] std::int64_t fragmentation() const { return reserved_at_peak - peak_allocated; }
  [[nodiscard]] std::string name() const;  // "cuda:0", "hip:1", "cpu"
};

// By device type and number, the host last; none of a trace recorded without profile_memory.
[[nodiscard]] std::vector<DeviceMemory> memory_devices(const Trace& trace);

}  // namespace tracelens
