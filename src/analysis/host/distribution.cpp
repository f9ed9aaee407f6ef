#include "analysis/host/distribution.hpp"

#include <algorithm>

#include "analysis/kit/group_stats.hpp"

namespace tracelens {

Distribution distribution_of(std::vector<double>& values) {
  const GroupStats stats = stats_of(values);
  std::ranges::sort(values);
  const std::span<const double> sorted{values};
  return {stats.count,
          stats.mean,
          stats.std,
          stats.min,
          quantile(sorted, 0.25),
          quantile(sorted, 0.5),
          quantile(sorted, 0.75),
          stats.max};
}

}  // namespace tracelens
