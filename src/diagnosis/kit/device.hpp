// device.hpp: which GPU an event ran on.
#pragma once

#include <cstdint>
#include <tracelens/trace.hpp>

#include "facts/trace_facts.hpp"

namespace tracelens {

// A JAX profile has a process per GPU, and no number in the event.
[[nodiscard]] inline std::int64_t device_of(const TraceFacts& facts, EventId event) {
  const Trace& trace = facts.trace();
  if (facts.kind() != TraceKind::kJax) return trace.devices().at(event).value_or(0);
  const Value& process = trace.track(event).pid;
  return process.is_int() ? process.as_int() : 0;
}

}  // namespace tracelens
