// calls.hpp: what a runtime or driver call does to the host thread that makes it, and what a GPU copy
// moves, by their names.
//   const CallKinds kinds{trace};
//   if (kinds.of(call) == CallClass::kSync && kinds.waits_for(call) == WaitsFor::kDevice) ...
//   copy_kind("Memcpy HtoD (Pageable -> Device)")     // CopyKind::kHostToDevice
//   memory_kind("Memcpy HtoD (Pageable -> Device)")   // MemoryKind::kPageable
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

enum class CallClass : std::uint8_t {
  kOther,
  kLaunch,  // by its name. Where links are known, a call with a linked GPU event is a launch, too
  kSync,    // the host waits for the GPU
  kAlloc,   // takes memory from the driver, or gives it back without a wait
  kFree,    // gives memory back, for which it waits until the device is idle
  kQuery,   // asks and never waits
};

// What a call of class kSync or kFree waits for.
enum class WaitsFor : std::uint8_t { kNothing, kDevice, kStream, kEvent, kOwnCopy };

struct CallKind {
  CallClass call_class = CallClass::kOther;
  WaitsFor waits_for = WaitsFor::kNothing;
  bool operator==(const CallKind&) const = default;
};
[[nodiscard]] CallKind call_kind(std::string_view call);

// A copy that the driver stages through its own buffers: the asynchronous call waits for it, too.
[[nodiscard]] bool is_pageable_copy(std::string_view copy);

enum class CopyKind : std::uint8_t {
  kNone,  // the name is not that of a copy or fill
  kHostToDevice,
  kDeviceToHost,
  kDeviceToDevice,
  kPeerToPeer,
  kHostToHost,
  kFill,
  kUnknown,  // a copy, but its name does not say of what
};
[[nodiscard]] CopyKind copy_kind(std::string_view gpu_event);

// The memory on the host's side of a copy; kDevice: none of it is on the host.
enum class MemoryKind : std::uint8_t { kUnknown, kPageable, kPinned, kHost, kDevice };
[[nodiscard]] MemoryKind memory_kind(std::string_view gpu_event);

// Looks at each distinct name of a runtime or driver call once.
class CallKinds {
 public:
  explicit CallKinds(const Trace& trace);
  CallKinds(const Trace& trace, std::span<const std::uint32_t> calls);  // rows of all calls
  [[nodiscard]] CallClass of(EventId call) const { return kind(call).call_class; }
  [[nodiscard]] WaitsFor waits_for(EventId call) const { return kind(call).waits_for; }

 private:
  [[nodiscard]] CallKind kind(EventId call) const { return kinds_[trace_.names()[call.row].row]; }

  const Trace& trace_;
  std::vector<CallKind> kinds_;  // by StringId
};

}  // namespace tracelens
