// trace_kind.hpp: what a trace is about, whatever file it came from.
//   if (trace_kind(trace) == TraceKind::kJax) ...
#pragma once

#include <cstdint>
#include <tracelens/trace.hpp>

namespace tracelens {

enum class TraceKind : std::uint8_t {
  kPyTorch,       // ops, modules and kernels; also a trace put together by hand
  kJax,           // HLO ops and kernels
  kRocmTimeline,  // HIP calls and kernels of rocprofv3's timeline, as .pftrace or JSON
  kRocprof,       // rocprofv3's results
  kDatabase,      // calls, ranges and GPU events of an SQLite file: rocpd, rpd, Nsight Systems
};

[[nodiscard]] TraceKind trace_kind(const Trace& trace);

// Whether the events are those of rocprofv3's timeline: JSON of one is read like a PyTorch trace,
// but holds no ops, and other words for what it holds.
[[nodiscard]] bool is_rocm_timeline(const Trace& trace);

}  // namespace tracelens
