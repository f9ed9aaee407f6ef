// range_collectives.hpp: what NCCL wrote into its ranges, for the kernels launched inside them.
//   const RangeCollectives ranges{trace};
//   collective_message(ranges.of(kernel))           // as if PyTorch had noted the arguments
#pragma once

#include <cstdint>
#include <tracelens/trace.hpp>
#include <tracelens/value.hpp>
#include <unordered_map>
#include <vector>

namespace tracelens {

class RangeCollectives {
 public:
  // Of a trace that is no database: nothing.
  explicit RangeCollectives(const Trace& trace);
  // Null for a kernel outside of such ranges.
  [[nodiscard]] const Value& of(EventId kernel) const;

 private:
  std::vector<Value> arguments_;
  std::unordered_map<std::uint32_t, std::size_t> of_kernel_;  // by row
};

}  // namespace tracelens
