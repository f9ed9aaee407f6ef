// compare_report_input.hpp: anything that can be compared, as tables: a workbook, a folder of CSV
// files, or a trace.
//   ComparedReport report = read_compared("runs/base.xlsx", "base", options);
#pragma once

#include <string>
#include <tracelens/compare.hpp>

#include "analysis/compare_sheets.hpp"

namespace tracelens {

// The file's name without folder and suffix; of a trace without .json and packing too.
[[nodiscard]] std::string default_tag(const std::string& path);

// Throws Error when it cannot be read.
[[nodiscard]] ComparedReport read_compared(const std::string& path, const std::string& tag,
                                           const CompareOptions& options);

}  // namespace tracelens
