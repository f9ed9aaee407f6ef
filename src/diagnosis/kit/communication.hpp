// communication.hpp: the communication kernels that a run launches in the window, and what of them
// nothing hides.
//   for (const WindowCollective& one : c.communication().kernels) one.exposed_ns ...
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tracelens/trace.hpp>
#include <vector>

#include "analysis/ranks/rank_trace.hpp"
#include "facts/trace_facts.hpp"

namespace tracelens {

struct WindowCollective {
  EventId event;
  std::uint32_t rank = 0, kernel = 0;  // in Communication::ranks, and there
  const CollectiveMessage* message = nullptr;
  CollectiveKind kind = CollectiveKind::kUnknown;
  std::int64_t dur_ns = 0;
  std::int64_t exposed_ns = 0;                       // the part in which its GPU computes nothing
  std::optional<double> bytes = {}, bus_bytes = {};  // of the message; as the links carry them
  [[nodiscard]] std::string name() const;            // "allreduce"
  [[nodiscard]] std::string group() const;           // of processes; empty: not said
  [[nodiscard]] double bus_gbps() const;             // 10^9 bytes per second; 0: not known
};

struct Communication {
  std::vector<RankTrace> ranks = {};  // one, or one per GPU of a JAX profile; of the whole trace
  std::vector<WindowCollective> kernels = {};  // by start
  // In which at least one ran; the most of any GPU.
  std::int64_t total_ns = 0, exposed_ns = 0;
};

// Of these GPU events.
[[nodiscard]] Communication communication_of(const TraceFacts& facts,
                                             std::span<const EventId> gpu_events);

}  // namespace tracelens
