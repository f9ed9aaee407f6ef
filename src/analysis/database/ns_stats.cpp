#include "analysis/database/ns_stats.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "tree/time_math.hpp"

namespace tracelens {

NsStats ns_stats(std::vector<std::int64_t>& values) {
  NsStats stats;
  std::ranges::sort(values);
  stats.count = static_cast<std::int64_t>(values.size());
  for (const std::int64_t value : values) stats.total = plus_ns(stats.total, value);
  stats.min = values.front();
  stats.max = values.back();
  const auto count = static_cast<double>(stats.count);
  stats.mean = static_cast<double>(stats.total) / count;
  const std::size_t middle = values.size() / 2;
  stats.median = static_cast<double>(values[middle]);
  if (values.size() % 2 == 0)
    stats.median = (stats.median + static_cast<double>(values[middle - 1])) / 2;
  if (stats.count > 1) {
    double squares = 0;
    for (const std::int64_t value : values) {
      const double off = static_cast<double>(value) - stats.mean;
      squares += off * off;
    }
    stats.std = std::sqrt(squares / (count - 1));
  }
  return stats;
}

std::vector<ColumnSpec> ns_stat_columns(const char* of) {
  const std::string what{of};
  return {{"count", Kind::kInteger, "", "how many " + what},
          {"total_ns", Kind::kInteger, "ns", "their time, added up"},
          {"mean_ns", Kind::kReal, "ns", "time of one, on average"},
          {"median_ns", Kind::kReal, "ns", "half of them are shorter"},
          {"min_ns", Kind::kInteger, "ns", "the shortest"},
          {"max_ns", Kind::kInteger, "ns", "the longest"},
          {"std_ns", Kind::kReal, "ns", "standard deviation (of a sample)"}};
}

void add_ns_stats(RowCells& row, const NsStats& stats) {
  row.add(stats.count);
  row.add(stats.total);
  row.add(stats.mean);
  row.add(stats.median);
  row.add(stats.min);
  row.add(stats.max);
  row.add(stats.std);
}

}  // namespace tracelens
