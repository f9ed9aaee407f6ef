// group_stats.hpp: mean, median, spread and range of a group's values.
//   GroupStats stats = stats_of_ns(durations);      // in µs; reorders the values
//   stats.mean                                      // nothing when there are no values
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tracelens {

struct GroupStats {
  std::int64_t count = 0;
  double sum = 0;
  std::optional<double> mean, median, min, max;
  std::optional<double> std;             // of a sample (n - 1): none for a single value
  std::optional<double> population_std;  // of all there is (n)
};

// One of them, and what it is called in the names of columns.
struct Stat {
  const char* name;
  std::optional<double> GroupStats::*value;
};
inline constexpr Stat kAllStats[] = {{"mean", &GroupStats::mean},
                                     {"median", &GroupStats::median},
                                     {"std", &GroupStats::std},
                                     {"min", &GroupStats::min},
                                     {"max", &GroupStats::max}};

// Both reorder `values`. Sums of nanoseconds are exact; the results are in microseconds.
[[nodiscard]] GroupStats stats_of_ns(std::vector<std::int64_t>& values);
[[nodiscard]] GroupStats stats_of(std::vector<double>& values);
// Of values that stand for several equal ones each, and at least one.
[[nodiscard]] GroupStats stats_of_ns(std::span<const std::int64_t> values,
                                     std::span<const std::int64_t> times);

}  // namespace tracelens
