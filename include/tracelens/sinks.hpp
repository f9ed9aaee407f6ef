// sinks.hpp: finished tables in, documents out. The kind of document follows the output's name.
//   write_tables(report.tables, "report.xlsx", {.title = "Performance report"});
//   write_tables({&table, 1}, "csv/", {});          // a folder: one CSV file per table
// Also .csv (one table), .html, .md and .json. Output is written beside its place and renamed when
// complete: a failed run leaves the old file. Implemented in src/report/sinks.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/table.hpp>
#include <vector>

namespace tracelens {

// What a document says about itself; CSV files have no place for it.
struct DocumentInfo {
  std::string title = {};
  std::string subtitle = {};             // one line under the title, or empty
  std::vector<std::string> source = {};  // what it was made from: one line per trace
  std::string version = {};              // of TraceLens
  std::size_t cells = 0;  // of all tables, if known: few are kept in memory, many written at once
  // Columns that a workbook hides at first; none when there is no function.
  bool (*is_folded)(std::string_view table, std::string_view column) = nullptr;
};

// Throws Error when the output cannot be written or no kind of document has such a name.
void write_tables(std::span<const Table> tables, const std::string& output,
                  const DocumentInfo& info);

// Throws the Error that write_tables() would for this name or for a folder that is not there,
// without touching anything: for telling a mistake before a large trace is read.
void check_sink(const std::string& output);

}  // namespace tracelens
