#include <tracelens/report.hpp>

#include <fmt/format.h>

#include <vector>

namespace tracelens {

void leave_out_what_excel_cannot_hold(Report& report, const SheetLimits& limits) {
  std::erase_if(report.tables, [&](const Table& table) {
    if (table.rows() <= limits.rows && table.columns().size() <= limits.columns) return false;
    report.warnings.push_back(fmt::format(
        "{}: {} rows and {} columns are more than a workbook holds; write to a folder to get it",
        table.name(), table.rows(), table.columns().size()));
    return true;
  });
}

}  // namespace tracelens
