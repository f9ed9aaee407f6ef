#include "analysis/memory/totals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace tracelens {
namespace {

// Device types as PyTorch numbers them.
constexpr std::int16_t kCpu = 0, kCuda = 1, kHip = 6;

std::int64_t capacity_of(const Trace& trace, const DeviceMemory& memory) {
  const Value* const devices = trace.metadata("deviceProperties");
  if (devices == nullptr || memory.type == kCpu) return 0;
  for (const Value& device : devices->items()) {
    const Value* const id = device.find("id");
    const Value* const bytes = device.find("totalGlobalMem");
    if (id != nullptr && bytes != nullptr && bytes->is_int() && id->as_int() == memory.device)
      return bytes->as_int();
  }
  return 0;
}

void sum_up(const Trace& trace, DeviceMemory& memory) {
  const auto& column = trace.memory_changes();
  const auto key = [&](std::uint32_t at) {
    return std::pair{trace.ts_ns()[column.rows()[at]], column.values()[at].order};
  };
  std::ranges::stable_sort(memory.order, {}, key);
  std::int64_t before = 0;
  for (std::size_t place = 0; place < memory.order.size(); ++place) {
    const std::uint32_t at = memory.order[place];
    const MemoryChange& change = column.values()[at];
    if (place == 0) {
      memory.initial = std::max<std::int64_t>(change.allocated - change.bytes, 0);
      memory.peak_ts_ns = trace.ts_ns()[column.rows()[at]];
      memory.peak_allocated = memory.initial;
      memory.reserved_at_peak = change.reserved;
    } else if (before + change.bytes != change.allocated) {
      ++memory.violations;
    }
    before = change.allocated;
    if (change.bytes > 0) ++memory.allocs;
    if (change.bytes < 0) ++memory.frees;
    memory.allocated_bytes += static_cast<double>(std::max<std::int64_t>(change.bytes, 0));
    memory.peak_reserved = std::max(memory.peak_reserved, change.reserved);
    if (change.allocated <= memory.peak_allocated) continue;
    memory.peak = place;
    memory.peak_ts_ns = trace.ts_ns()[column.rows()[at]];
    memory.peak_allocated = change.allocated;
    memory.reserved_at_peak = change.reserved;
  }
  memory.capacity = capacity_of(trace, memory);
}

}  // namespace

std::string DeviceMemory::name() const {
  if (type == kCpu) return "cpu";
  if (type == kCuda) return fmt::format("cuda:{}", device);
  if (type == kHip) return fmt::format("hip:{}", device);
  return fmt::format("device type {}:{}", type, device);
}

std::vector<DeviceMemory> memory_devices(const Trace& trace) {
  std::map<std::tuple<bool, std::int16_t, std::int16_t>, DeviceMemory> found;
  const auto changes = trace.memory_changes().values();
  for (std::uint32_t at = 0; at < changes.size(); ++at) {
    const std::int16_t type = changes[at].device_type, device = changes[at].device;
    DeviceMemory& memory = found[{type == kCpu, type, device}];
    memory.type = type;
    memory.device = device;
    memory.order.push_back(at);
  }
  std::vector<DeviceMemory> devices;
  for (auto& [key, memory] : found) {
    sum_up(trace, memory);
    devices.push_back(std::move(memory));
  }
  return devices;
}

}  // namespace tracelens
