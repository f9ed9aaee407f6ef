// reports.hpp: which tables make the report of each kind of trace; make_report chooses among them.
// A new format adds a function here and its line in kReports (report.cpp).
#pragma once

#include <optional>
#include <string>
#include <tracelens/report.hpp>
#include <vector>

namespace tracelens {

[[nodiscard]] Report pytorch_report(const Trace& trace, const ReportOptions& options);
[[nodiscard]] Report jax_report(const Trace& trace, const ReportOptions& options);
// ROCm: a timeline (Perfetto, or JSON of such events), and rocprofv3's results.
[[nodiscard]] Report pftrace_report(const Trace& trace, const ReportOptions& options);
[[nodiscard]] Report rocprof_report(const Trace& trace, const ReportOptions& options);

// What was skipped while reading and what the analyses had to make do with, so that no report is
// silently about less than the file holds. No table when all is well.
[[nodiscard]] std::optional<Table> warnings_table(const Trace& trace,
                                                  const std::vector<std::string>& sentences);

}  // namespace tracelens
