// group_stats.hpp: mean, median, spread and range of a group's values.
//   GroupStats stats = stats_of_ns(durations);      // in µs; reorders the values
//   stats.mean                                      // nothing when there are no values
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tracelens {

struct GroupStats {
  std::int64_t count = 0;
  double sum = 0;
  std::optional<double> mean, median, min, max;
  std::optional<double> std;             // of a sample (n - 1): none for a single value
  std::optional<double> population_std;  // of all there is (n)
};

// Both reorder `values`. Sums of nanoseconds are exact; the results are in microseconds.
[[nodiscard]] GroupStats stats_of_ns(std::vector<std::int64_t>& values);
[[nodiscard]] GroupStats stats_of(std::vector<double>& values);

}  // namespace tracelens
