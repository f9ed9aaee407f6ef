// cmp_change.hpp: something that a run does otherwise than the one it is held against; rules/cmp_changes.hpp
// finds them.
#pragma once

#include <cstdint>
#include <string>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

struct CmpChange {
  enum class Kind : std::uint8_t { kSlower, kMoreKernels, kOnlyHere };
  Kind kind = Kind::kSlower;
  std::string name = {};              // of the op, module or frame
  std::vector<EventId> kernels = {};  // of this run
  std::int64_t ns = 0, other_ns = 0;
  double count = 0, other_count = 0;  // GPU events
  std::int64_t roof_ns =
      0;  // the best this run's GPU could do; 0: not known, or the other's GPU is the same
  [[nodiscard]] std::int64_t lost_ns() const { return ns - other_ns; }
};

}  // namespace tracelens
