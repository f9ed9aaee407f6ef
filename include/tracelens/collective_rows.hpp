// collective_rows.hpp: the communication kernels of many ranks one by one; collectives.hpp has the report.
//   const Table kernels = collective_rows(find_rank_files({"traces/"}));
// Implemented in src/report.
#pragma once

#include <cstddef>
#include <tracelens/collectives.hpp>
#include <tracelens/edition.hpp>
#include <tracelens/table.hpp>
#include <vector>

namespace tracelens {

struct CollectiveRowOptions {
  int threads = 0;  // 0: one per core. The result never depends on it.
  std::size_t memory_bytes = std::size_t{2} << 30;  // about as much for traces being read
  // Reference: the ids of the Python TraceLens, by which the k-th kernel of a group on one rank
  // belongs to the k-th on every other; its names and types; no columns of nodes.
  Edition edition = Edition::kExtended;
  // kernels of other libraries that are collectives
  std::vector<CollectiveReportOptions::Pattern> patterns = {};
};

// One row per communication kernel of every rank: table nccl_long of the report, with its times in
// ns as well. The rank of a file is its place in the list. Throws Error when one cannot be read.
[[nodiscard]] Table collective_rows(const std::vector<RankFile>& files,
                                    const CollectiveRowOptions& options = {});

}  // namespace tracelens
