// csv.hpp: rocprofv3's kernel trace as CSV (`*_kernel_trace.csv`).
//   if (is_rocprof_csv(in.peek(4096))) return read_rocprof_csv(in, options);
// One dispatch per row; columns are found by the names in the first row, in any order and case, and
// those that are not known are ignored. Gives the same trace as rocprofv3's JSON of the same run, but
// for what the CSV does not hold: copies, API calls, the times at which the process began and ended.
// Where a column Guid tells processes apart, each has kernel, stream and correlation ids of its own.
#pragma once

#include <string_view>
#include <tracelens/read_trace.hpp>
#include <tracelens/trace.hpp>

#include "io/stream.hpp"

namespace tracelens {

// Whether the first line names the columns of a kernel trace.
[[nodiscard]] bool is_rocprof_csv(std::string_view head);

// Throws Error when a column that is needed is not there. A row that does not fit is left out and
// counted.
[[nodiscard]] Trace read_rocprof_csv(io::Stream& in, const ReadOptions& options);

}  // namespace tracelens
