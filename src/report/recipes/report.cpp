// The report of any trace: the format it came from decides which tables there are.
#include <algorithm>
#include <tracelens/version.hpp>

#include "facts/trace_kind.hpp"
#include "report/recipes/reports.hpp"
#include "report/sinks/sink.hpp"

namespace tracelens {
namespace {

struct ReportKind {
  TraceKind kind;
  Report (*make)(const Trace& trace, const ReportOptions& options);
};

constexpr ReportKind kReports[] = {
    {.kind = TraceKind::kPyTorch, .make = pytorch_report},
    {.kind = TraceKind::kJax, .make = jax_report},
    {.kind = TraceKind::kRocmTimeline, .make = pftrace_report},
    {.kind = TraceKind::kRocprof, .make = rocprof_report},
};

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
  return std::ranges::find(kReports, trace_kind(trace), &ReportKind::kind)->make(trace, options);
}

void write_report(const Report& report, const std::string& output) {
  write_tables(report.tables, output,
               {.title = report.title,
                .subtitle = report.gpu.empty() ? "" : "Roofline figures: " + report.gpu,
                .source = {report.trace_name},
                .version = kVersion});
}

}  // namespace tracelens
