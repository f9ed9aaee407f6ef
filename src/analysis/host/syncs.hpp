// syncs.hpp: calls in which the host waited for the GPU: for what, who asked for it, and what came of it.
//   const SyncCalls syncs = sync_calls_of(work, gaps);
//   for (const SyncGroup& group : syncs.groups) print(group.python, group.waited_ns);
#pragma once

#include <cstdint>
#include <optional>
#include <tracelens/intervals.hpp>
#include <tracelens/table.hpp>
#include <vector>

#include "analysis/host/copies.hpp"
#include "analysis/host/gaps.hpp"
#include "analysis/host/host_work.hpp"

namespace tracelens {

// Ids that are invalid: none.
struct SyncCall {
  EventId call;
  EventId waited_for;          // the GPU event whose end it waited for
  std::int64_t waited_ns = 0;  // from the call's start to that end
  bool drained = false;        // the GPU ran dry meanwhile
  std::int64_t idle_after_ns = 0;
  bool round_trip = false;  // a value came back to the host: item(), nonzero() or the like
  EventId op, top_op;       // innermost and outermost op around it
  EventId python, module;   // innermost frame of the user's own code, innermost nn.Module
  EventId range;            // what goes when the value is not read back: an op, or the call
  EventId copy;             // the GPU copy below the range; the first
  CopyKind direction = CopyKind::kNone;
  MemoryKind memory = MemoryKind::kUnknown;
  std::optional<std::int64_t> bytes;
  std::uint32_t group = 0;
};

// Calls of one kind from one place.
struct SyncGroup {
  StringId call, op, top_op, python, module;
  CopyKind direction = CopyKind::kNone;
  std::vector<std::uint32_t> calls;  // places in SyncCalls::calls
  std::int64_t ranges = 0;           // distinct ranges: copy and wait of one op share it
  std::int64_t wait_ns = 0, waited_ns = 0, longest_ns = 0;
  std::int64_t drained = 0, idle_after_ns = 0, round_trips = 0, bytes = 0;
};

struct SyncCalls {
  std::vector<SyncCall> calls;    // by start
  std::vector<SyncGroup> groups;  // those that were waited in longest first
};
[[nodiscard]] SyncCalls sync_calls_of(const HostWork& work, const GpuGaps& gaps);

[[nodiscard]] Table sync_calls(const HostWork& work, const SyncCalls& syncs);
[[nodiscard]] Table sync_summary(const HostWork& work, const SyncCalls& syncs);

}  // namespace tracelens
