#include "analysis/kit/group_stats.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tree/time_math.hpp"

namespace tracelens {
namespace {

// The middle value, or the mean of the two in the middle.
template <class T>
double median_of(std::vector<T>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  const auto upper = static_cast<double>(*middle);
  if (values.size() % 2 != 0) return upper;
  const auto lower = static_cast<double>(*std::max_element(values.begin(), middle));
  return lower + (upper - lower) / 2;
}

template <class T>
GroupStats describe(std::vector<T>& values, double sum, double unit) {
  GroupStats stats;
  stats.count = static_cast<std::int64_t>(values.size());
  stats.sum = sum / unit;
  if (values.empty()) return stats;
  const auto n = static_cast<double>(values.size());
  const double mean = sum / n;
  double squares = 0;
  for (const T value : values) {
    const double off = static_cast<double>(value) - mean;
    squares += off * off;
  }
  const auto [min, max] = std::ranges::minmax_element(values);
  stats.min = static_cast<double>(*min) / unit;
  stats.max = static_cast<double>(*max) / unit;
  stats.mean = mean / unit;
  stats.median = median_of(values) / unit;
  stats.population_std = std::sqrt(squares / n) / unit;
  if (values.size() > 1) stats.std = std::sqrt(squares / (n - 1)) / unit;
  return stats;
}

}  // namespace

GroupStats stats_of_ns(std::vector<std::int64_t>& values) {
  std::int64_t sum = 0;
  for (const std::int64_t value : values) sum = plus_ns(sum, value);
  return describe(values, static_cast<double>(sum), 1e3);
}

GroupStats stats_of_ns(std::span<const std::int64_t> values, std::span<const std::int64_t> times) {
  std::vector<std::pair<std::int64_t, std::int64_t>> sorted;
  for (std::size_t i = 0; i < values.size(); ++i) sorted.emplace_back(values[i], times[i]);
  std::ranges::sort(sorted);
  GroupStats stats;
  std::int64_t sum = 0;
  for (const auto& [value, count] : sorted) {
    stats.count += count;
    sum = plus_ns(sum, times_ns(value, count));
  }
  stats.sum = static_cast<double>(sum) / 1e3;
  if (stats.count == 0) return stats;
  const auto n = static_cast<double>(stats.count);
  const double mean = static_cast<double>(sum) / n;
  double squares = 0, lower = 0, upper = 0;
  std::int64_t seen = 0;
  for (const auto& [value, count] : sorted) {
    const double off = static_cast<double>(value) - mean;
    squares += off * off * static_cast<double>(count);
    if (seen <= (stats.count - 1) / 2) lower = static_cast<double>(value);
    if (seen <= stats.count / 2) upper = static_cast<double>(value);
    seen += count;
  }
  stats.min = static_cast<double>(sorted.front().first) / 1e3;
  stats.max = static_cast<double>(sorted.back().first) / 1e3;
  stats.mean = mean / 1e3;
  stats.median = (lower + (upper - lower) / 2) / 1e3;
  stats.population_std = std::sqrt(squares / n) / 1e3;
  if (stats.count > 1) stats.std = std::sqrt(squares / (n - 1)) / 1e3;
  return stats;
}

GroupStats stats_of(std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return describe(values, sum, 1);
}

}  // namespace tracelens
