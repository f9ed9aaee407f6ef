#include "analysis/tables/warnings.hpp"

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
  for (const auto& entry : trace.warnings().entries())
    table.add_row(entry.what, entry.count, entry.first_byte);
  for (const std::string& sentence : sentences) table.add_row(sentence, kMissing, kMissing);
  return table;
}

}  // namespace tracelens
