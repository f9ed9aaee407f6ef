// overview.hpp: the first screen of a report, from its tables.
//   report.overview = trace_overview(context, report);
#pragma once

#include <optional>
#include <tracelens/overview.hpp>
#include <tracelens/report.hpp>

#include "analysis/tables/context.hpp"

namespace tracelens {

// Of a whole report of one trace; none without GPU time.
[[nodiscard]] std::optional<Overview> trace_overview(TableContext& context, const Report& report);

// Of the ranks of one run: from their timelines and the verdicts on their collectives.
[[nodiscard]] std::optional<Overview> ranks_overview(const Report& report);

}  // namespace tracelens
