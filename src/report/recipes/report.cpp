// The report of any trace: the format it came from decides which tables there are.
#include <algorithm>
#include <iterator>
#include <tracelens/version.hpp>

#include "analysis/rocm/pftrace_events.hpp"
#include "report/recipes/reports.hpp"
#include "report/sinks/sink.hpp"

namespace tracelens {
namespace {

struct ReportKind {
  std::string_view format;  // Source::format
  Report (*make)(const Trace& trace, const ReportOptions& options);
};

constexpr ReportKind kReports[] = {
    {.format = "kineto", .make = pytorch_report},
    {.format = "xplane", .make = jax_report},
    {.format = "perfetto", .make = pftrace_report},
    {.format = "rocprof", .make = rocprof_report},
};

// JSON of a ROCm timeline is read like a PyTorch trace; its events tell that it is none.
std::string_view report_format(const Trace& trace) {
  const std::string& format = trace.source().format;
  return format == "kineto" && is_rocm_timeline(trace) ? std::string_view{"perfetto"} : format;
}

const ColumnSpec kWarningColumns[] = {
    {"warning", Kind::kText, "", "what was wrong with the input or could not be done"},
    {"count", Kind::kInteger, "", "how often"},
    {"first byte", Kind::kInteger, "", "where in the unpacked text it was first seen"},
};

}  // namespace

std::optional<Table> warnings_table(const Trace& trace, const std::vector<std::string>& sentences) {
  if (trace.warnings().entries().empty() && sentences.empty()) return std::nullopt;
  Table table{"warnings", "What was skipped or assumed", kWarningColumns};
  for (const auto& entry : trace.warnings().entries())
    table.add_row(entry.what, entry.count, entry.first_byte);
  for (const std::string& sentence : sentences) table.add_row(sentence, kMissing, kMissing);
  return table;
}

const Table* Report::find(std::string_view table) const {
  const auto found = std::ranges::find(tables, table, &Table::name);
  return found == tables.end() ? nullptr : &*found;
}

Report make_report(const Trace& trace, const ReportOptions& options) {
  // A trace that was put together by hand names no format; all events have the columns of Kineto's.
  const auto* const kind = std::ranges::find(kReports, report_format(trace), &ReportKind::format);
  return (kind == std::end(kReports) ? kReports[0] : *kind).make(trace, options);
}

void write_report(const Report& report, const std::string& output) {
  write_tables(report.tables, output,
               {.title = report.title,
                .subtitle = report.gpu.empty() ? "" : "Roofline figures: " + report.gpu,
                .source = {report.trace_name},
                .version = kVersion});
}

}  // namespace tracelens
