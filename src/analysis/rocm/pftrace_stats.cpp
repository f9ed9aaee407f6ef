#include "analysis/rocm/pftrace_stats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tree/time_math.hpp"

namespace tracelens {

NsStats ns_stats(std::vector<std::int64_t>& values) {
  NsStats stats;
  if (values.empty()) return stats;
  std::ranges::sort(values);
  stats.count = static_cast<std::int64_t>(values.size());
  stats.min = values.front();
  stats.max = values.back();
  for (const std::int64_t value : values) stats.sum = plus_ns(stats.sum, value);
  const auto n = static_cast<double>(values.size());
  stats.mean = static_cast<double>(stats.sum) / n;
  const std::size_t middle = values.size() / 2;
  stats.median = static_cast<double>(values[middle]);
  if (values.size() % 2 == 0)
    stats.median = (static_cast<double>(values[middle - 1]) + stats.median) / 2;
  double squares = 0;
  for (const std::int64_t value : values) {
    const double off = static_cast<double>(value) - stats.mean;
    squares += off * off;
  }
  stats.std = std::sqrt(squares / n);
  return stats;
}

std::string human_ns(double ns) {
  if (ns >= 1e6) return fmt::format("{:.3f} ms", ns / 1e6);
  if (ns >= 1e3) return fmt::format("{:.3f} \u03bcs", ns / 1e3);
  return fmt::format("{:.0f} ns", std::trunc(ns));
}

std::int64_t percentile(const std::vector<std::int64_t>& sorted, double percent) {
  if (sorted.empty()) return 0;
  const auto rank = std::ceil(percent / 100 * static_cast<double>(sorted.size()));
  const auto last = static_cast<double>(sorted.size());
  return sorted[static_cast<std::size_t>(std::clamp(rank, 1.0, last)) - 1];
}

}  // namespace tracelens
