// idle.hpp: when the GPU waited, for how long at a time, and what the host did meanwhile.
//   const IdleTables idle = gpu_idle(facts);
//   for (const IdleShare& share : idle.causes) print(text_of(share.cause), share.ns);
// A gap is a stretch between the first and the last GPU event in which none of them runs. The GPU
// event that ends the gap names the thread that kept it waiting: the one that launched it.
// For every kind of trace: PyTorch, JAX and ROCm differ only in which host events they have.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tracelens/table.hpp>
#include <vector>

#include "facts/trace_facts.hpp"

namespace tracelens {

struct IdleOptions {
  bool include_unlinked = false;  // as for the timeline
  std::size_t top_rows = 30;      // of gpu_idle_host; the others become one row
};

// What idle time comes from, in a few words that are the same for every trace.
enum class IdleCause : std::uint8_t {
  kOpDispatch,  // inside the framework's ops and compiler, with the Python frames they call
  kLaunch,      // in runtime calls, or from such a call to the start of its work if that is soon
  kPython,      // in Python frames outside of ops
  kSync,        // the host waited for the GPU: in a synchronizing call, item() or the like
  kData,        // in a data loader or reading a file; launching a copy from host to GPU
  kNoHost,      // no thread did anything that is in the trace, or the launch is not in it
  kLateStart,   // the work was launched, but the GPU started it 100 us later or more
};
inline constexpr std::array<std::string_view, 7> kIdleCauseNames = {
    "op dispatch", "launch", "Python", "sync", "data", "no host activity", "late start"};
[[nodiscard]] constexpr std::string_view text_of(IdleCause cause) {
  return kIdleCauseNames[static_cast<std::size_t>(cause)];
}

struct IdleShare {
  IdleCause cause{};
  std::int64_t ns = 0;
};

struct IdleTables {
  Table by_size;                  // gpu_idle: gaps by size class
  Table by_host;                  // gpu_idle_host: idle time by what the launching thread was doing
  std::vector<IdleShare> causes;  // the costliest first, none of length 0; they add up to idle_ns
  std::int64_t idle_ns = 0;
  std::int64_t unlinked_ns = 0;  // of idle_ns: before work whose launch is not in the trace
};

// Each instant of a gap is charged to one line:
//   sync, runtime call, op, python, annotation   until the launch: the innermost event open on the
//                     launching thread, or where there is none on the main thread of its process:
//                     the one with most Python frames (annotations: of data loaders only)
//   compile           the same inside XLA's compiler
//   no host activity  nothing was open on either
//   launch call       the launching call was running; "slow" from 100 us on, as when it loads code
//   launch latency    it had returned, its work began within 100 us
//   queued            the same where it had returned before the gap began: the usual gap between
//                     two kernels
//   late start        its work began 100 us after or later: something else held the GPU up
//   unlinked          the launch is not in the trace
// Python frames are looked at whether they take part in the tree or not.
[[nodiscard]] IdleTables gpu_idle(const TraceFacts& facts, const IdleOptions& options = {});

}  // namespace tracelens
