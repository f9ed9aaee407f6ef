// sheets.hpp: which sheets of reports are compared, by which keys and numbers.
//   std::vector<std::string> notes;
//   const std::vector<Table> sheets = compare_sheets(reports, {.groups = {"all"}}, notes);
// The registry (analysis/tables) says what is known about each sheet.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/edition.hpp>
#include <tracelens/table.hpp>
#include <vector>

namespace tracelens {

struct ComparedReport {
  std::string tag = {};   // its name in the columns
  std::string path = {};  // for messages
  bool is_folder = false;
  std::vector<Table> tables = {};
  [[nodiscard]] const Table* find(std::string_view table) const;
};

struct CompareSheetsOptions {
  std::vector<std::string> groups = {"all"};
  // Extended: also sheets the Python TraceLens does not compare; kernels by the op that launched
  // them; rows with equal keys in order instead of every one with every other.
  Edition edition = Edition::kExtended;
};

// Whether the comparison looks at a sheet of this name: for reading no others.
[[nodiscard]] bool is_compared(std::string_view sheet, std::string_view group, Edition edition);

// The sheets of the result, in order. The first report is the baseline. With "all" a group that a
// report lacks is left out with a note; a group asked for by name must be there, else Error.
[[nodiscard]] std::vector<Table> compare_sheets(std::span<const ComparedReport> reports,
                                                const CompareSheetsOptions& options,
                                                std::vector<std::string>& notes);

// Where a sheet says how long each of its things took.
struct SheetMeasure {
  std::string_view key, metric;  // columns
  double ms_per_unit = 1;
  std::string_view place = {};  // column that tells things of one name apart; empty: none
};
// Nothing when no rule knows the sheet.
[[nodiscard]] std::optional<SheetMeasure> sheet_measure(const Table& table);

// Whether a workbook folds this column of a comparison away at first.
[[nodiscard]] bool is_folded_column(const Table& table, std::string_view column);

}  // namespace tracelens
