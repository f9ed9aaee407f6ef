#include "analysis/database/stat_columns.hpp"

#include <cmath>
#include <string>

namespace tracelens {

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
  row.add(stats.sum);
  row.add(stats.mean);
  row.add(stats.median);
  row.add(stats.min);
  row.add(stats.max);
  // Of a sample, which a single value is not.
  const auto count = static_cast<double>(stats.count);
  stats.count > 1 ? row.add(stats.std * std::sqrt(count / (count - 1))) : row.add(kMissing);
}

}  // namespace tracelens
