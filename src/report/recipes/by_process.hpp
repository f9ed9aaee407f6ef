// by_process.hpp: the tables of a job, each row told by its process.
//   if (options.by_process) add_tables_by_process(trace, options, report);
#pragma once

#include <tracelens/report.hpp>
#include <tracelens/trace.hpp>

namespace tracelens {

// Adds the tables of each process, made of its events alone, put together: with a column `process` in
// front, and `rank` where the job has ranks. A trace of one process, or of no job, gives a warning.
void add_tables_by_process(const Trace& trace, const ReportOptions& options, Report& report);

}  // namespace tracelens
