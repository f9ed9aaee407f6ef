#include <tracelens/report.hpp>

#include <fmt/format.h>

#include <string>
#include <tracelens/table_text.hpp>
#include <vector>

#include "report/sinks/unique_names.hpp"

namespace tracelens {
namespace {

bool is_longer(std::string_view text, std::size_t units) {
  return text.size() > units && cut_utf16(text, units).size() < text.size();
}

std::size_t cut_cells(const Table::Column& column, std::size_t units) {
  std::size_t count = 0;
  for (const std::string& text : column.texts()) count += is_longer(text, units) ? 1 : 0;
  if (column.spec().kind == Kind::kNested)
    for (std::size_t row = 0; row < column.size(); ++row)
      if (most_plain_bytes(column, row) > units && is_longer(plain_text(column, row), units))
        ++count;
  return count;
}

}  // namespace

void leave_out_what_excel_cannot_hold(Report& report, const SheetLimits& limits) {
  std::erase_if(report.tables, [&](const Table& table) {
    if (table.rows() <= limits.rows && table.columns().size() <= limits.columns) return false;
    report.warnings.push_back(fmt::format(
        "{}: {} rows and {} columns are more than a workbook holds; write to a folder to get it",
        table.name(), table.rows(), table.columns().size()));
    return true;
  });
  for (const Table& table : report.tables)
    for (const Table::Column& column : table.columns())
      if (const std::size_t count = cut_cells(column, limits.text); count > 0)
        report.warnings.push_back(fmt::format(
            "{}: {} of column {} longer than the {} characters a cell of a workbook holds, and cut "
            "there; write to a folder to get all of it",
            table.name(), count == 1 ? "a text" : fmt::format("{} texts", count),
            column.spec().name + (count == 1 ? " is" : " are"), limits.text));
}

}  // namespace tracelens
