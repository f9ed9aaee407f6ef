// memory_copy.hpp: copies between host and GPUs: how large, which way, how fast.
//   const std::vector<MemoryCopy> copies = find_memory_copies(events);
//   report.tables.push_back(memory_copy_by_copy_bytes(copies));
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tracelens/table.hpp>
#include <vector>

#include "analysis/rocm/pftrace_events.hpp"

namespace tracelens {

struct MemoryCopy {
  EventId event;
  std::int64_t bytes = 0;
  std::int64_t dur_ns = 0;  // 0 when the trace does not say
  std::string direction;    // "h2d (GPU 2)", "d2d (GPU 2 -> GPU 3)", "other"
};

// Copies whose size is known, in file order. Reference: only agents written as numbers are known,
// not "Agent-2".
[[nodiscard]] std::vector<MemoryCopy> find_memory_copies(const PftraceEvents& events,
                                                         Edition edition = Edition::kExtended);

// How many copies of each size and direction.
[[nodiscard]] Table memory_copy_by_copy_bytes(const std::vector<MemoryCopy>& copies);

// The same by size class, each four times as large as the one before, with times and rates: small
// copies are slow. No table when no copy has a time.
[[nodiscard]] std::optional<Table> memory_copy_sizes(const std::vector<MemoryCopy>& copies);

// Bytes, time and rate per direction; no table when no copy has a time.
[[nodiscard]] std::optional<Table> memory_copy_bandwidth(const std::vector<MemoryCopy>& copies);

}  // namespace tracelens
