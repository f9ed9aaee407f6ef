// workbook_limits.hpp: a run of a thousand ranks has more kernels than a sheet has rows.
//   if (output.ends_with(".xlsx")) leave_out_what_excel_cannot_hold(report);
#pragma once

#include <cstddef>
#include <tracelens/report.hpp>

namespace tracelens {

struct SheetLimits {
  std::size_t rows = 1'048'575, columns = 16'384;  // beside the header
};

// Tables beyond the limits go, and a warning of the report says so for each.
void leave_out_what_excel_cannot_hold(Report& report, const SheetLimits& limits = {});

}  // namespace tracelens
