// overview.hpp: the first screen of a report, from its tables.
//   std::future<Overview> found = find_causes(context);
//   report.overview = trace_overview(context, report, found.get());
#pragma once

#include <future>
#include <optional>
#include <tracelens/overview.hpp>
#include <tracelens/report.hpp>

#include "analysis/tables/context.hpp"

namespace tracelens {

// The causes alone, found while the tables are made.
[[nodiscard]] std::future<Overview> find_causes(const TableContext& context);
// Of a whole report of one trace; none without GPU time. `found`: what find_causes() gave.
[[nodiscard]] std::optional<Overview> trace_overview(TableContext& context, const Report& report,
                                                     Overview found);

// Of the ranks of one run: from their timelines and the verdicts on their collectives.
[[nodiscard]] std::optional<Overview> ranks_overview(const Report& report);

}  // namespace tracelens
