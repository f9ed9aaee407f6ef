// uploads.hpp: which copies to the GPU are a matter of their number, and which of their size.
#pragma once

#include "analysis/host/syncs.hpp"
#include "diagnosis/kit/context.hpp"

namespace tracelens {

inline constexpr std::int64_t kSmallCopyBytes = 64 << 10;
inline constexpr double kManyCopies = 10;  // per step

// Many small copies to the GPU from one place: DATA-4. All others are of DATA-2.
[[nodiscard]] inline bool are_many_small(const DiagnosisContext& c, const SyncGroup& group) {
  if (group.direction != CopyKind::kHostToDevice) return false;
  std::int64_t small = 0;
  for (const std::uint32_t at : group.calls) {
    const SyncCall& sync = c.syncs().calls[at];
    small += c.in_window(c.trace.ts_ns()[sync.call.row]) &&
             sync.bytes.value_or(kSmallCopyBytes) < kSmallCopyBytes;
  }
  return static_cast<double>(small) > kManyCopies * static_cast<double>(c.steps());
}

}  // namespace tracelens
