// tables.hpp: what the allocators of a run held: in short, over time, at the peak, and by whom.
//   memory_summary(facts, memory_devices(trace))
// All times are from the start of the trace's first event.
#pragma once

#include <span>
#include <tracelens/table.hpp>
#include <vector>

#include "analysis/memory/raw_timeline.hpp"
#include "analysis/memory/totals.hpp"
#include "facts/trace_facts.hpp"

namespace tracelens {

[[nodiscard]] Table memory_summary(const TraceFacts& facts, std::span<const DeviceMemory> devices);

// At most `most_rows` rows: of more changes than that, the least and the most of each stretch.
[[nodiscard]] Table memory_timeline(const Trace& trace, std::span<const DeviceMemory> devices,
                                    std::size_t most_rows = 20'000);

// The same for a picture: of each 1/4,000 of the time the first, the least and the most in use, the
// most held, and the last, so that the peaks are exact wherever they are.
[[nodiscard]] Table memory_curves(const Trace& trace, std::span<const DeviceMemory> devices);

// memory_peak: who owned what was in use at the peak; memory_churn: who asked for memory, how often.
struct MemoryOwnerTables {
  Table peak, churn;
};
[[nodiscard]] MemoryOwnerTables memory_owners(const TraceFacts& facts,
                                              std::span<const DeviceMemory> devices);

// The same of the profiler's own timeline: memory_summary, memory_peak and memory_timeline.
[[nodiscard]] std::vector<Table> raw_memory_tables(const RawTimeline& timeline,
                                                   std::size_t most_rows = 20'000);

}  // namespace tracelens
