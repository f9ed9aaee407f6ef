// kernel_stats.hpp: the kernels of a group of equal ops, by position: the first kernel of each op
// with the first kernel of all others, and so on.
//   KernelStats stats{trace};
//   for (row : group) stats.add(kernels_of(row));
//   row.add(stats.cell());  row.add(stats.short_cell());  stats.clear();
// The first op that launched anything is the pattern; ops with another number of kernels are left
// out, so that `count` may be below the number of ops.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <tracelens/trace.hpp>
#include <tracelens/value.hpp>
#include <vector>

#include "analysis/kit/group_stats.hpp"

namespace tracelens {

// One GPU event as an op's row lists it.
struct KernelUse {
  StringId name;
  std::int64_t stream = kAbsent;
  std::int64_t dur_ns = 0;
  double overlap_pct = std::numeric_limits<double>::quiet_NaN();  // only of overlapping kernels
};

class KernelStats {
 public:
  explicit KernelStats(const Trace& trace) : trace_{trace} {}

  void add(std::span<const KernelUse> kernels);
  void clear() { pattern_.clear(); }

  // The kernels in ascending order of (total time, name); positions are those of the pattern.
  [[nodiscard]] std::vector<std::size_t> order() const;
  // A list with a dict per kernel: name, stream, count, and total, mean, median, std, min, max of
  // the durations. `call_stacks`, one per position of the pattern or none, are shown after stream.
  [[nodiscard]] Value cell(std::span<const Value> call_stacks = {});
  // The same with shortened names and mean durations of two decimals; null when there are none.
  // Call it after cell().
  [[nodiscard]] Value short_cell() const;

 private:
  const Trace& trace_;
  std::vector<KernelUse> pattern_;
  std::vector<std::vector<std::int64_t>> durations_;  // by position; may hold old ones at the end
  std::vector<std::int64_t> totals_;
  std::vector<std::size_t> order_;  // of the last cell()
  std::vector<double> means_;
};

// At most 64 code points, then "...".
[[nodiscard]] std::string short_kernel_name(std::string_view name);

}  // namespace tracelens
