// copies.hpp: copies and fills: what moved from where to where, how fast, and who waited for it.
//   for (const Copy& copy : copies_of(work)) if (copy.memory == MemoryKind::kPageable) ...
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <tracelens/table.hpp>
#include <vector>

#include "analysis/host/host_work.hpp"

namespace tracelens {

struct Copy {
  EventId gpu;
  EventId call;  // invalid: it is not in the trace
  std::int64_t device = 0;
  CopyKind kind = CopyKind::kUnknown;
  MemoryKind memory = MemoryKind::kUnknown;
  std::optional<std::int64_t> bytes;
  std::optional<double> gb_per_s;  // as recorded, else from bytes and time
};

// Copies, fills and the kernels that old ROCm versions copy and fill with, in file order.
[[nodiscard]] std::vector<Copy> copies_of(const HostWork& work);

[[nodiscard]] std::string_view text_of(CopyKind kind);  // "Memcpy HtoD", "Memset", "copy kernel"
[[nodiscard]] std::string_view text_of(MemoryKind memory);  // "Pageable", "" where not known

// All copies of one kind between the same memories.
struct CopyGroup {
  std::int64_t device = 0;
  CopyKind kind = CopyKind::kUnknown;
  MemoryKind memory = MemoryKind::kUnknown;
  std::int64_t count = 0, bytes = 0, small = 0;  // small: less than 64 KiB
  std::int64_t sized = 0;                        // those whose size is known
  std::int64_t busy_ns = 0;
  std::int64_t sized_ns = 0;         // Σ of those whose size is known
  std::int64_t exposed_ns = 0;       // while no kernel ran on the device
  std::int64_t host_blocked_ns = 0;  // in calls that returned only when it was done
  std::vector<double> rates;         // GB/s, ascending
  std::vector<std::int64_t> sizes;   // ascending
};
[[nodiscard]] std::vector<CopyGroup> copy_groups(const HostWork& work,
                                                 const std::vector<Copy>& copies);

[[nodiscard]] Table copy_bandwidth(const HostWork& work, const std::vector<Copy>& copies);
// The bandwidth in use over time, and how its values are spread.
[[nodiscard]] Table copy_bandwidth_series(const HostWork& work, const std::vector<Copy>& copies);
[[nodiscard]] Table copy_bandwidth_levels(const HostWork& work, const std::vector<Copy>& copies);

}  // namespace tracelens
