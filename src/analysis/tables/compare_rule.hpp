// compare_rule.hpp: how the rows of a table are told apart and what of them is worth comparing.
// It stands in the table's row of the registry.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <tracelens/edition.hpp>

namespace tracelens {

enum class CompareShape : std::uint8_t {
  kWhole,  // one sheet with all rows
  kSplit,  // per variant: rows of both, only of the baseline, only of the variant
};

using CompareNames = std::span<const std::string_view>;

// What is known about one layout of one sheet.
struct CompareRule {
  std::string_view group;  // "ops_summary": what --sheets takes
  std::string_view sheet;
  std::string_view base;  // of the names of the split sheets
  CompareShape shape;
  std::string_view sort_by;  // a metric, or empty: by key
  CompareNames keys, metrics;
  CompareNames dropped = {};              // columns left out
  CompareNames dropped_variants = {};     // left out of all but the first report
  bool by_params = false;                 // the columns "param: ..." of all reports are keys too
  bool is_required = false;               // asked for by name it must be there
  Edition edition = Edition::kReference;  // the extended one compares more
  int place = 0;                          // among the sheets of the group
};

// The groups in the order of a comparison, and the word for all of them.
inline constexpr std::string_view kCompareGroups[] = {
    "gpu_timeline", "serving", "ops_summary", "kernel_summary", "ops_all", "roofline", "all"};

// The column that tells who launched a kernel.
inline constexpr std::string_view kLaunchingOp = "Parent cpu_op";

}  // namespace tracelens
