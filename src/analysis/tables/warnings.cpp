#include "analysis/tables/warnings.hpp"

#include "facts/trace_kind.hpp"

namespace tracelens {
namespace {

const ColumnSpec kWarningColumns[] = {
    {"warning", Kind::kText, "text", "what was wrong with the input or could not be done"},
    {"count", Kind::kInteger, "", "how often"},
    {"first byte", Kind::kInteger, "", "where in the unpacked text it was first seen"},
};

}  // namespace

std::optional<Table> warnings_table(const Trace& trace, const std::vector<std::string>& sentences) {
  if (trace.warnings().entries().empty() && sentences.empty()) return std::nullopt;
  Table table{"warnings", "What was skipped or assumed", kWarningColumns};
  const bool has_bytes = trace_kind(trace) != TraceKind::kDatabase;  // whose pages are in no order
  for (const auto& [what, count, byte] : trace.warnings().entries()) {
    if (has_bytes)
      table.add_row(what, count, byte);
    else
      table.add_row(what, count, kMissing);
  }
  for (const std::string& sentence : sentences) table.add_row(sentence, kMissing, kMissing);
  return table;
}

}  // namespace tracelens
