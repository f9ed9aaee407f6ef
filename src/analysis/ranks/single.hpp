// single.hpp: the collectives of one rank by process group, operation and message size.
//   const std::optional<Table> table = coll_analysis(trace, Edition::kExtended);
// Skew between ranks needs the traces of all of them; that is another analysis.
#pragma once

#include <optional>
#include <tracelens/edition.hpp>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>

namespace tracelens {

// No table when there is no such kernel. The reference's edition leaves kernels out that lack one of
// the fields the rows are grouped by (point-to-point, custom all-reduce); ours leaves such cells
// empty.
[[nodiscard]] std::optional<Table> coll_analysis(const Trace& trace, Edition edition);

}  // namespace tracelens
