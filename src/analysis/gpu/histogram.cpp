#include "analysis/gpu/histogram.hpp"

#include <algorithm>

namespace tracelens {

std::vector<HistogramBin> histogram(std::span<const double> values, int bins, double margin) {
  if (values.empty() || bins < 1) return {};
  auto [low, high] = std::ranges::minmax(values);
  if (low == high) {
    low -= margin;
    high += margin;
  }
  const auto last = static_cast<std::size_t>(bins) - 1;
  const double count = bins, step = (high - low) / count;
  std::vector<HistogramBin> result(last + 1);
  for (std::size_t i = 0; i <= last; ++i) {
    result[i].start = static_cast<double>(i) * step + low;
    result[i].end = i == last ? high : static_cast<double>(i + 1) * step + low;
  }
  for (const double x : values) {
    auto bin = std::min(static_cast<std::size_t>((x - low) * (count / (high - low))), last);
    // The product above may be off by a rounding error: the edges decide.
    if (x < result[bin].start)
      --bin;
    else if (bin < last && x >= result[bin].end)
      ++bin;
    ++result[bin].count;
  }
  return result;
}

}  // namespace tracelens
