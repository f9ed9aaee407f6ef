// xlsx_close.hpp: what goes wrong on the disk while libxlsxwriter writes a workbook.
//   close_workbook(workbook, "report.xlsx");
// The library prints such problems and names no cause; those of its temporary files it does not even
// notice, and the workbook lacks the ends of its sheets.
#pragma once

#include <string>

struct lxw_workbook;

namespace tracelens {

// Writes the workbook to the disk and frees it. Throws Error when that fails, with the cause.
void close_workbook(lxw_workbook* workbook, const std::string& output);

// Throws Error, about `output`, when a sheet of the written workbook lacks its end.
void check_workbook(const std::string& file, const std::string& output);

}  // namespace tracelens
