// xlsx_cover.hpp: the first sheet of a workbook: the overview's verdict, figures and two charts.
//   if (info.overview != nullptr) sheets.push_back(cover_sheet(info, styles));
#pragma once

#include <tracelens/sinks.hpp>

#include "report/xlsx/styles.hpp"
#include "report/xlsx/workbook.hpp"

namespace tracelens {

[[nodiscard]] xlsx::Sheet cover_sheet(const DocumentInfo& info, xlsx::Styles& styles);

}  // namespace tracelens
