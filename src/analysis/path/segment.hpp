// segment.hpp: one stretch of a critical path, and what it says about the run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tracelens/intervals.hpp>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

// Why one point of the run comes after another.
enum class EdgeKind : std::uint8_t {
  kHost,         // the thread was inside an event
  kGap,          // the thread was outside of all events: Python, the framework, nothing
  kHandoff,      // the backward thread waits for the forward one, or the other way round
  kGpu,          // a GPU event runs
  kKernelGap,    // a GPU event follows the one before on its stream
  kLaunch,       // a GPU event follows its launch call
  kStreamEvent,  // a stream waits for an event of another one
  kStreamGuess,  // the same, concluded from the times
  kSync,         // the host waits for a GPU event
};
inline constexpr std::array<std::string_view, 9> kEdgeKindNames = {
    "host", "gap", "handoff", "gpu", "kk", "launch", "event", "xwait", "sync"};
[[nodiscard]] constexpr std::string_view text_of(EdgeKind kind) {
  return kEdgeKindNames[static_cast<std::size_t>(kind)];
}

enum class BoundBy : std::uint8_t {
  kGpuCompute,
  kGpuCommunication,
  kGpuMemcpy,
  kGpuGap,
  kLaunchLatency,
  kStreamWait,
  kSyncReturn,
  kThreadHandoff,
  kDataLoading,
  kHostRuntime,
  kHostOp,
  kHostOther,
};
inline constexpr std::array<std::string_view, 12> kBoundByNames = {
    "gpu_compute",    "gpu_communication", "gpu_memcpy",  "gpu_gap",
    "launch_latency", "stream_wait",       "sync_return", "thread_handoff",
    "data_loading",   "host_runtime",      "host_op",     "host_other"};
[[nodiscard]] constexpr std::string_view text_of(BoundBy bound_by) {
  return kBoundByNames[static_cast<std::size_t>(bound_by)];
}
using BoundByTimes = std::array<std::int64_t, kBoundByNames.size()>;  // ns, by BoundBy

struct PathSegment {
  std::int64_t start_ns = 0, end_ns = 0;
  EdgeKind kind{};
  BoundBy bound_by{};
  EventId owner;     // whose time it is: a GPU event, op or call; invalid: nobody's
  EventId from, to;  // whose start or end it leads from and to
};

struct CriticalPath {
  std::vector<PathSegment> segments;  // in order of time; each begins where the one before ends
  Interval time;                      // that they fill
  std::int64_t unattributed_ns = 0;   // of the window, before the first
  BoundByTimes bound_by{};
};

}  // namespace tracelens
