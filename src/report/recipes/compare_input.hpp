// compare_input.hpp: anything that can be compared, as tables: a workbook, a folder of CSV
// files, a trace, or the folder of a JAX profile.
//   ComparedReport report = read_compared("runs/base.xlsx", "base", options).report;
#pragma once

#include <optional>
#include <string>
#include <tracelens/compare.hpp>
#include <vector>

#include "analysis/compare/sheets.hpp"

namespace tracelens {

// The file's name without folder and suffix; of a trace without .json, .xplane and packing too.
[[nodiscard]] std::string default_tag(const std::string& path);

// The same for several, each different from the others: where files of one name lie in different
// folders ("base/trace.json", "new/trace.json") by the folder, else by a number at the end.
[[nodiscard]] std::vector<std::string> distinct_tags(const std::vector<std::string>& paths);

struct ComparedInput {
  ComparedReport report = {};
  std::optional<Trace> trace = {};  // of an input that is one
};

// Throws Error when it cannot be read.
[[nodiscard]] ComparedInput read_compared(const std::string& path, const std::string& tag,
                                          const CompareOptions& options);

}  // namespace tracelens
