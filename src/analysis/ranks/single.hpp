// single.hpp: the collectives of one rank by process group, operation and message size.
//   const std::optional<Table> table = coll_analysis(trace, {});
// Skew between ranks needs the traces of all of them; that is another analysis.
#pragma once

#include <optional>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>

namespace tracelens {

struct CollectiveOptions {
  // Also kernels that lack one of the fields the rows are grouped by (point-to-point, custom
  // all-reduce); such cells are empty. The Python TraceLens leaves these out.
  bool keep_incomplete = false;
};

// No table when there is no such kernel.
[[nodiscard]] std::optional<Table> coll_analysis(const Trace& trace,
                                                 const CollectiveOptions& options = {});

}  // namespace tracelens
