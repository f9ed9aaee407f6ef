// timeline.hpp: how the time of any GPU events divides into computing, communicating, copying and
// waiting: the figures of gpu_timeline for a choice of one's own.
//   const GpuTimes times = gpu_times(trace, tree.gpu_events(module));
//   times.exposed_comm;                      // ns in which these communicated and computed nothing
// "Exposed" communication runs while nothing computes, exposed copies while nothing computes or
// communicates, so that computation + exposed times + idle = total. In src/analysis/gpu.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <tracelens/trace.hpp>

namespace tracelens {

struct GpuTimes {  // in ns
  std::int64_t computation = 0, exposed_comm = 0, exposed_copy = 0, busy = 0, total = 0;
  std::int64_t micro_idle = 0, macro_idle = 0;  // without a threshold all idle time is macro
  std::int64_t comm = 0, copy = 0;
};

// Gaps shorter than `micro_idle_us` are micro_idle. All 0 without events; these need a time and a
// length.
[[nodiscard]] GpuTimes gpu_times(const Trace& trace, std::span<const EventId> events,
                                 std::optional<std::int64_t> micro_idle_us = {});

}  // namespace tracelens
