// gaps.hpp: when a GPU waited, and what the thread that launched its next work did meanwhile.
//   const GpuGaps gaps = gpu_gaps_of(work);
//   for (const DeviceGaps& device : gaps.devices) print(device.part_ns[GapPart::kOp]);
// Of each GPU by itself, over all its streams and all its work, also what no call in the trace
// launched. The parts of a gap add up to its length.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tracelens/intervals.hpp>
#include <tracelens/table.hpp>
#include <vector>

#include "analysis/host/host_work.hpp"

namespace tracelens {

enum class GapPart : std::uint8_t {
  kNone,           // the thread did nothing that was recorded, or the launch is not in the trace
  kDevice,         // the work was launched before the gap began
  kLaunchCall,     // inside the call that launched it
  kLaunchLatency,  // from the return of that call to the start of the work
  // Before that call, by what was innermost on its thread:
  kSync,          // a call that waits for the GPU
  kAlloc,         // a call that takes or gives back memory
  kLaunch,        // the launch of something else
  kDataLoader,    // anything else while a batch was fetched
  kRuntimeOther,  // another call
  kOp,            // an op, or a Python frame that one called
  kPython,        // a Python frame
};
inline constexpr std::array<std::string_view, 11> kGapPartNames = {
    "none",       "device",        "launch_call", "launch_latency", "sync", "alloc", "launch",
    "dataloader", "runtime_other", "op",          "python"};

// A time for each part.
class GapParts {
 public:
  [[nodiscard]] std::int64_t& operator[](GapPart part) {
    return ns_[static_cast<std::size_t>(part)];
  }
  [[nodiscard]] std::int64_t operator[](GapPart part) const {
    return ns_[static_cast<std::size_t>(part)];
  }
  [[nodiscard]] GapPart largest() const;

 private:
  std::array<std::int64_t, kGapPartNames.size()> ns_{};
};

struct GpuGap {
  Interval time;
  std::int64_t device = 0;
  EventId next;        // the GPU event that ends it
  EventId call;        // that launched it; invalid: not in the trace
  EventId drained_by;  // the call that waited until the GPU ran dry; invalid: none
  GapParts parts;
  // What the launching thread was in for the longest part of the gap: an op, and a Python frame of the
  // user's own code. Invalid: none.
  StringId op_during, python_during;
};

struct DeviceGaps {
  std::int64_t device = 0;
  Interval span;  // from its first event to the end of its last
  std::int64_t idle_ns = 0, gaps = 0;
  GapParts part_ns, part_gaps;  // part_gaps: in how many gaps
  std::int64_t drained_ns = 0, drained_gaps = 0;
};

struct DrainedGap {
  EventId call;
  Interval time;
};

struct GpuGaps {
  std::vector<DeviceGaps> devices;  // sums over all gaps, by device
  std::vector<GpuGap> gaps;         // those that were asked for, by device and time
  std::vector<DrainedGap> drained;  // all of them, by device and time
};

// `from_ns`: single gaps are kept from this length on; negative: none are kept.
[[nodiscard]] GpuGaps gpu_gaps_of(const HostWork& work, std::int64_t from_ns);

inline constexpr std::int64_t kLongGapNs = 50'000;
[[nodiscard]] Table gpu_gaps(const HostWork& work, const GpuGaps& gaps);
[[nodiscard]] Table gpu_gap_summary(const HostWork& work, const GpuGaps& gaps);

}  // namespace tracelens
