// long.hpp: communication kernels one by one, and summed up per rank.
//   const Table kernels = nccl_long(run);                  // one row per kernel and rank
//   const Table sums = nccl_summary_long(run, {});         // one row per rank, group and message
#pragma once

#include <tracelens/table.hpp>

#include "analysis/ranks/run.hpp"

namespace tracelens {

struct LongOptions {
  // Ids as the Python TraceLens counts them: the k-th kernel of a group by time on one rank belongs to
  // the k-th on every other, whatever it is. Otherwise as the kernels were matched.
  bool ids_by_position = false;
  bool nodes = true;         // columns of nodes, where these are known
  bool nanoseconds = false;  // also ts_ns and dur_ns: exact, whatever the clock
};
// Ranks ascending, each rank's kernels in file order.
[[nodiscard]] Table nccl_long(const CollectiveRun& run, const LongOptions& options = {});

struct LongSummaryOptions {
  const char* name = "nccl_summary_long";
  bool keep_incomplete = false;  // also kernels that lack one of the fields rows are grouped by
};
// The costliest first. `left_out`, if given, gets the number of kernels not counted.
[[nodiscard]] Table nccl_summary_long(const CollectiveRun& run, const LongSummaryOptions& options,
                                      std::size_t* left_out = nullptr);

}  // namespace tracelens
