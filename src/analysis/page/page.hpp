// page.hpp: all that the HTML page of a run, or of several, shows beside its tables.
//   report.page = std::make_shared<const Page>(make_page(context, options));
#pragma once

#include <span>
#include <string>
#include <tracelens/page.hpp>

#include "analysis/page/work_classes.hpp"
#include "analysis/tables/context.hpp"

namespace tracelens {

// Of one run. Asks the context for ops: not beside a thread that makes tables.
[[nodiscard]] Page make_page(TableContext& context, const PageOptions& options);

// Of several runs, a group each. All start at 0.
struct NamedTrace {
  const Trace& trace;
  std::string name;
};
[[nodiscard]] Page make_page(std::span<const NamedTrace> runs, const PageOptions& options);

// Of runs in general: several have a name each.
[[nodiscard]] Page make_page(std::span<const PageSource> runs, const PageOptions& options);

}  // namespace tracelens
