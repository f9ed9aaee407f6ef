// diff_inline.hpp: a report of one trace, widened by a second one.
//   Report report = make_report(trace, options);
//   add_other_trace(report, trace, other, options);
// unified_perf_summary gets columns about the other trace, and the sheet diff_stats comes after it.
// Nothing changes when the report has no such table or the traces cannot be aligned; a warning says
// so.
#pragma once

#include <tracelens/report.hpp>

namespace tracelens {

// `options` are those the report was made with.
void add_other_trace(Report& report, const Trace& trace, const Trace& other,
                     const ReportOptions& options);

}  // namespace tracelens
