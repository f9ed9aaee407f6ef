#include "analysis/rocm/pftrace_stats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "tree/time_math.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kFew = 2048;  // are sorted as quickly by comparing them
constexpr unsigned kDigitBits = 8;

}  // namespace

// Lengths of time are small numbers: from the least to the longest there are three or four digits to
// a base of 256, and to sort by one digit after the other takes a quarter of the time that comparing
// does.
void sort_ns(std::vector<std::int64_t>& values) {
  if (values.size() < kFew) {
    std::ranges::sort(values);
    return;
  }
  const auto [least, longest] = std::ranges::minmax(values);
  const auto above_least = [least = static_cast<std::uint64_t>(least)](std::int64_t value) {
    return static_cast<std::uint64_t>(value) - least;
  };
  std::vector<std::int64_t> sorted(values.size());
  for (unsigned shift = 0; shift < 64 && above_least(longest) >> shift != 0; shift += kDigitBits) {
    const auto digit_of = [&](std::int64_t value) {
      return above_least(value) >> shift & ((1U << kDigitBits) - 1);
    };
    // Of the next value with each digit.
    std::array<std::size_t, (1U << kDigitBits) + 1> places = {};
    for (const std::int64_t value : values) ++places[digit_of(value) + 1];
    for (std::size_t digit = 1; digit < places.size(); ++digit) places[digit] += places[digit - 1];
    for (const std::int64_t value : values) sorted[places[digit_of(value)]++] = value;
    std::swap(values, sorted);
  }
}

NsStats ns_stats(std::vector<std::int64_t>& values) {
  NsStats stats;
  if (values.empty()) return stats;
  sort_ns(values);
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
