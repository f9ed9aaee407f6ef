// page.hpp: all that the HTML page of a run, or of two, shows beside its tables.
//   report.page = std::make_shared<const Page>(make_page(context, options));
#pragma once

#include <span>
#include <tracelens/page.hpp>

#include "analysis/page/work_classes.hpp"
#include "analysis/tables/context.hpp"

namespace tracelens {

// Of one run. Asks the context for ops: not beside a thread that makes tables.
[[nodiscard]] Page make_page(TableContext& context, const PageOptions& options);

// Of two runs, the groups `base` and `new`. Both start at 0.
[[nodiscard]] Page make_page(const Trace& base, const Trace& changed, const PageOptions& options);

// Of runs in general: several have a name each.
[[nodiscard]] Page make_page(std::span<const PageSource> runs, const PageOptions& options);

}  // namespace tracelens
