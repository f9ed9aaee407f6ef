// by_process.hpp: the tables of a job, each row told by its process.
//   if (options.by_process && has_several_processes(trace))
//     add_tables_by_process(trace, options, report);
#pragma once

#include <tracelens/report.hpp>
#include <tracelens/trace.hpp>

namespace tracelens {

// Whether there is anything to tell apart.
[[nodiscard]] bool has_several_processes(const Trace& trace);

// Adds the tables of each process, made of its events alone, put together: with a column `process` in
// front, and `rank` where the job has ranks.
void add_tables_by_process(const Trace& trace, const ReportOptions& options, Report& report);

}  // namespace tracelens
