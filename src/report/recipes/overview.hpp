// overview.hpp: the first screen of a report, from its tables.
//   report.overview = trace_overview(context, report, find_causes(context).overview);
#pragma once

#include <cstddef>
#include <optional>
#include <tracelens/diagnose.hpp>
#include <tracelens/finding.hpp>
#include <tracelens/overview.hpp>
#include <tracelens/report.hpp>
#include <vector>

#include "analysis/tables/context.hpp"

namespace tracelens {

// What a look at a few steps tells: the costliest causes as the first screen shows them, and all.
struct Causes {
  Overview overview = {};  // the causes alone
  std::vector<Finding> findings = {};
  std::size_t steps = 0;                // that the findings are about; 0: none are known
  std::vector<QualityNote> notes = {};  // how far the recording can be trusted
};
// May be asked while tables are made.
[[nodiscard]] Causes find_causes(const TableContext& context);
// Of a whole report of one trace; none without GPU time. `found`: what find_causes() gave.
[[nodiscard]] std::optional<Overview> trace_overview(TableContext& context, const Report& report,
                                                     Overview found);

// Of the ranks of one run: from their timelines and the verdicts on their collectives.
[[nodiscard]] std::optional<Overview> ranks_overview(const Report& report);

}  // namespace tracelens
