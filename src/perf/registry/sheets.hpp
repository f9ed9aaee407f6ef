// sheets.hpp: the sheets that a report lists modelled ops on, one row each.
//   for (const SheetInfo& sheet : sheets(Edition::kExtended)) ...       // in the order of the report
//   find_sheet("SDPA")->passes                                          // SDPA_fwd and SDPA_bwd
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/edition.hpp>

namespace tracelens::perf {

struct SheetInfo {
  enum class Passes : std::uint8_t {
    kTwoSheets,  // SDPA_fwd and SDPA_bwd
    kOneSheet,   // GEMM: backward ops are ordinary ops of the family
  };
  std::string_view name;   // OpInfo::sheet
  std::string_view reads;  // what its models look at
  Passes passes = Passes::kTwoSheets;
  Edition edition = Edition::kReference;  // kExtended: not known to the Python TraceLens
  // In the Python TraceLens's report of serving traces one sheet has its pass in its name, too.
  bool names_pass_in_inference = false;
};

[[nodiscard]] std::span<const SheetInfo> sheets(Edition edition);

[[nodiscard]] const SheetInfo* find_sheet(std::string_view name);  // null: no such sheet

// "GEMM, SDPA, CONV": for error messages.
[[nodiscard]] std::string sheet_names(Edition edition);

}  // namespace tracelens::perf
