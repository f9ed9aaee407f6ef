// pftrace_stats.hpp: statistics of durations in nanoseconds, and how a person reads them.
//   NsStats stats = ns_stats(durations);     // sorts them
//   human_ns(stats.mean)                     // "12.346 ms", "7.500 μs", "518 ns"
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tracelens {

struct NsStats {
  std::int64_t count = 0, sum = 0, min = 0, max = 0;
  double mean = 0, median = 0;
  double std = 0;  // of all there is (n), 0 for a single value
};

// Ascending. Long lists take as much memory again meanwhile.
void sort_ns(std::vector<std::int64_t>& values);

// All zero when there are no values.
[[nodiscard]] NsStats ns_stats(std::vector<std::int64_t>& values);

[[nodiscard]] std::string human_ns(double ns);

// The value that `percent` of the sorted `values` do not exceed; 0 when there are none.
[[nodiscard]] std::int64_t percentile(const std::vector<std::int64_t>& sorted, double percent);

}  // namespace tracelens
