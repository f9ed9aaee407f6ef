// xlsx_cover.hpp: the first sheet of a workbook: the overview's verdict, figures and two charts.
//   if (info.overview != nullptr) write_cover(workbook, info);      // before any other sheet
#pragma once

#include <xlsxwriter.h>

#include <tracelens/sinks.hpp>

namespace tracelens {

// Throws Error. The workbook may be one that is written row by row.
void write_cover(lxw_workbook* workbook, const DocumentInfo& info);

// Bars in the cells of a column of percentages, from 0 to 100 or to the largest of them.
[[nodiscard]] lxw_error add_bars(lxw_worksheet* sheet, lxw_row_t first, lxw_row_t last,
                                 lxw_col_t column, bool up_to_hundred);

}  // namespace tracelens
