// ns_stats.hpp: the columns count, total_ns, mean_ns ... of a group of durations.
#pragma once

#include <cstdint>
#include <span>
#include <tracelens/table.hpp>
#include <vector>

#include "analysis/kit/cells.hpp"

namespace tracelens {

struct NsStats {
  std::int64_t count = 0, total = 0, min = 0, max = 0;
  double mean = 0, median = 0;
  std::optional<double> std;  // of a sample; none of a single value
};
[[nodiscard]] NsStats ns_stats(std::vector<std::int64_t>& values);  // sorts them; none may be empty

[[nodiscard]] std::vector<ColumnSpec> ns_stat_columns(const char* of);
void add_ns_stats(RowCells& row, const NsStats& stats);

}  // namespace tracelens
