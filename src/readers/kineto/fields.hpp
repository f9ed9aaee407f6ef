// fields.hpp: what has been read of the event at hand.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <tracelens/trace.hpp>
#include <utility>

#include "readers/chrome/json_scan.hpp"
#include "readers/kineto/event.hpp"
#include "readers/kineto/number_args.hpp"
#include "readers/kineto/recall.hpp"
#include "readers/kineto/signatures.hpp"

namespace tracelens::kineto {

inline constexpr std::uint32_t kNoId = std::numeric_limits<std::uint32_t>::max();

// What a "[memory]" event says, as it is written.
struct RawMemoryArgs {
  std::int64_t address = kAbsent, bytes = kAbsent, allocated = kAbsent, reserved = kAbsent;
  std::int64_t order = kAbsent, device_type = kAbsent, device = kAbsent;

  // The number of this name; nullptr for all other names.
  [[nodiscard]] static std::int64_t RawMemoryArgs::*find(std::string_view name) {
    using json::is;
    switch (name.size()) {
      case 4:
        return is(name, "Addr") ? &RawMemoryArgs::address : nullptr;
      case 5:
        return is(name, "Bytes") ? &RawMemoryArgs::bytes : nullptr;
      case 6:
        return is(name, "Ev Idx") ? &RawMemoryArgs::order : nullptr;
      case 9:
        return is(name, "Device Id") ? &RawMemoryArgs::device : nullptr;
      case 11:
        return is(name, "Device Type") ? &RawMemoryArgs::device_type : nullptr;
      case 14:
        return is(name, "Total Reserved") ? &RawMemoryArgs::reserved : nullptr;
      case 15:
        return is(name, "Total Allocated") ? &RawMemoryArgs::allocated : nullptr;
      default:
        return nullptr;
    }
  }

  [[nodiscard]] bool is_usable() const {
    const auto is_total = [](std::int64_t total) { return total >= 0 && total <= kMostMemory; };
    return bytes >= -kMostMemory && bytes <= kMostMemory && is_total(allocated) &&
           (reserved == kAbsent || is_total(reserved));
  }
  [[nodiscard]] MemoryChange change() const {
    const auto fit = []<class T>(std::int64_t value, T other) {
      return std::in_range<T>(value) ? static_cast<T>(value) : other;
    };
    return {.address = address == kAbsent ? 0 : address,
            .bytes = bytes,
            .allocated = allocated,
            .reserved = reserved == kAbsent ? 0 : reserved,
            .order = fit(order, std::int32_t{0}),
            .device_type = fit(device_type, std::int16_t{0}),
            .device = fit(device, std::int16_t{-1})};
  }
};

// What has been read of the event at hand. Views point into the block's text.
struct EventFields {
  char phase = 0;
  Category category = Category::kNone;
  std::string_view category_text, name, label;
  std::uint32_t name_id = kNoId, call_stack = kNoId;
  bool has_text_name = false;  // else the name is some other value, printed
  std::int64_t ts_ns = kAbsent, dur_ns = kAbsent, flow_id = kAbsent;
  std::int64_t src_agent = kAbsent, dst_agent = kAbsent;
  NumberArgs numbers;
  RawTrack track;
  RawSignature signature;
  RawMemoryArgs memory;
  // For Recall: what is expected, and the last event of this kind; nullptr: its kind is not known.
  Recall::Seen expected;
  Recall::Trail* trail = nullptr;

  // The JSON that Perfetto makes of rocprofv3's traces has only whole microseconds in ts and dur, and
  // no dur at all on the slices ('b') of GPU queues, on empty ones ('n', 'I') and unended ones ('B').
  [[nodiscard]] bool has_exact_times() const {
    constexpr std::string_view kPhases = "XbnIB";
    return numbers[NumberArg::kBeginNs] != kAbsent && numbers.has_times() &&
           kPhases.find(phase) != std::string_view::npos;
  }

  // A copy of rocprofv3 names no GPU of its own: it is the one the data goes to, or comes from.
  [[nodiscard]] std::int64_t any_device() const {
    const std::int64_t device = numbers[NumberArg::kDevice];
    if (device != kAbsent || category != Category::kGpuMemcpy) return device;
    if (name.ends_with("_TO_DEVICE")) return dst_agent;
    return name.ends_with("_DEVICE_TO_HOST") ? src_agent : kAbsent;
  }
};

}  // namespace tracelens::kineto
