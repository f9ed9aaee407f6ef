// stats.hpp: the GPU work below every point where two merged traces part.
//   const DiffStats stats = collect_diff_stats(input);
//   const Table table = diff_stats_table(input, stats);
// One row per GPU event. A point of divergence is a lowest node that both traces have, below which
// at least one has work that the other has not; or a pair of kernels.
#pragma once

#include <cstdint>
#include <tracelens/table.hpp>
#include <vector>

#include "analysis/diff/text.hpp"

namespace tracelens {

struct DiffStatsRow {
  std::uint8_t side = 0;     // 0: trace1
  EventId gpu, op;           // the event, and the op that launched it
  std::int64_t busy_ns = 0;  // of all the side's work at this point
  // The merged node where the traces part; kNone for a root that only one of them has.
  std::uint32_t ancestor = MergedTree::kNone;
  std::uint32_t ancestor_name = 0;  // in DiffStats::ancestor_names
};

struct DiffStats {
  std::vector<DiffStatsRow> rows;
  std::vector<std::string> ancestor_names;
  bool is_identical = false;   // both sides have the same rows: a trace compared with itself
  std::size_t without_op = 0;  // GPU events that no op launched; they have no row
};

// Extended: memory fills that stand alone count like kernels.
[[nodiscard]] DiffStats collect_diff_stats(const DiffInput& input,
                                           Edition edition = Edition::kReference);

// Of identical traces only the rows of the first, without the column `source`, unless told to keep
// it.
[[nodiscard]] Table diff_stats_table(const DiffInput& input, const DiffStats& stats,
                                     bool keep_source = false);

}  // namespace tracelens
