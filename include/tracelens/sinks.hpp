// sinks.hpp: finished tables in, documents out. The kind of document follows the output's name.
//   write_tables(report.tables, "report.xlsx", {.title = "Performance report"});
//   write_tables({&table, 1}, "csv/", {});          // a folder: one CSV file per table
// Also .csv (one table), .html, .md, .json and .db (SQLite, see query.hpp). Output is written beside its place and renamed when
// complete: a failed run leaves the old file. Implemented in src/report/sinks.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/edition.hpp>
#include <tracelens/overview.hpp>
#include <tracelens/page.hpp>
#include <tracelens/table.hpp>
#include <vector>

namespace tracelens {

// What a document says about itself; CSV files have no place for it.
struct DocumentInfo {
  std::string title = {};
  std::string subtitle = {};             // one line under the title, or empty
  std::vector<std::string> source = {};  // what it was made from: one line per trace
  std::string version = {};              // of TraceLens
  std::string verb = {};                 // which verb made it: "report", "diff", ...; or empty
  int threads = 0;                       // to write a workbook or page with; 0 is one per core
  // Columns that a workbook hides at first and Markdown leaves out; none without a function.
  bool (*is_folded)(const Table& table, std::string_view column) = nullptr;
  const Overview* overview = nullptr;          // what the document begins with; not owned
  const Page* page = nullptr;                  // what a page shows beside tables; not owned
  std::vector<std::string> first_tables = {};  // come first where room is short, in this order
  // Reference: a workbook or folder is that of the Python TraceLens, the tables and nothing else.
  Edition edition = Edition::kExtended;
  // Texts in CSV files as they are, also those that a spreadsheet would run as a formula; without it
  // these get a ' in front. The reference's are always as they are.
  bool csv_raw = false;
};

// Throws Error when the output cannot be written or no kind of document has such a name.
void write_tables(std::span<const Table> tables, const std::string& output,
                  const DocumentInfo& info);

// Throws the Error that write_tables() would for this name or for a folder that is not there,
// without touching anything: for telling a mistake before a large trace is read. `also`: a kind that
// the caller writes itself, such as ".svg", to be told of.
void check_sink(const std::string& output, std::string_view also = {});

// The same for an output that is to hold several tables, as a .csv file cannot. `choose_one` tells
// how to get a single one: "choose it with --tables NAME".
void check_sink_for_several(const std::string& output, std::string_view choose_one = {});

}  // namespace tracelens
