// report_page.hpp: what the page of a report shows beside its tables.
//   if (options.page) page = add_page_parts(context, report);
#pragma once

#include <tracelens/page.hpp>
#include <tracelens/report.hpp>

#include "analysis/tables/context.hpp"

namespace tracelens {

// Adds the table `roofline`, where the GPU is known and ops have a place in it. The tables of the
// report are made; the findings are not in the page yet.
[[nodiscard]] Page add_page_parts(TableContext& context, Report& report);

}  // namespace tracelens
