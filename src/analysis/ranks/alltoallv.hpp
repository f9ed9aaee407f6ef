// alltoallv.hpp: all-to-all exchanges in which every rank sends other amounts.
//   const std::vector<UnevenExchange> rows = uneven_exchanges(run);
//   nccl_all2allv(run, rows), nccl_summary_all2allv(run, rows, how), nccl_all2allv_heatmap(run)
// Nobody waits for the slowest here: a rank is done when its own data has moved.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tracelens/table.hpp>
#include <vector>

#include "analysis/ranks/aggregates.hpp"
#include "analysis/ranks/run.hpp"
#include "tree/time_math.hpp"

namespace tracelens {

struct UnevenExchange {
  std::uint32_t collective = 0;          // Matching::collectives
  std::optional<double> total_mib = {};  // what all ranks send; none when a size is not known
  std::optional<double> elements = {};
  std::int64_t first_start_ns = 0, last_start_ns = 0, first_end_ns = 0, last_end_ns = 0;
  std::int64_t shortest_ns = 0, longest_ns = 0, dur_sum_ns = 0;
  std::optional<double> gibps = {}, fastest_gibps = {},
                        slowest_gibps = {};  // all together; of single ranks
  std::optional<double> imbalance = {};      // largest share over the mean

  [[nodiscard]] std::int64_t wall_ns() const { return minus_ns(last_end_ns, first_start_ns); }
  [[nodiscard]] std::int64_t start_skew_ns() const {
    return minus_ns(last_start_ns, first_start_ns);
  }
  [[nodiscard]] std::int64_t end_skew_ns() const { return minus_ns(last_end_ns, first_end_ns); }
};

// The largest first, those of unknown size last; of equals, the first in the run.
[[nodiscard]] std::vector<UnevenExchange> uneven_exchanges(const CollectiveRun& run);

// No table when there is no such exchange.
[[nodiscard]] std::optional<Table> nccl_all2allv(const CollectiveRun& run,
                                                 std::span<const UnevenExchange> rows);
[[nodiscard]] std::optional<Table> nccl_summary_all2allv(const CollectiveRun& run,
                                                         std::span<const UnevenExchange> rows,
                                                         std::span<const Aggregate> aggregates);

// How much each rank sent to each: one row per pair that met. Sentences about kernels that had to
// be left out go to `warnings`.
[[nodiscard]] std::optional<Table> nccl_all2allv_heatmap(const CollectiveRun& run,
                                                         std::vector<std::string>& warnings);

}  // namespace tracelens
