// sink.hpp: finished tables in, documents out. The kind of document follows the name of the output.
//   write_tables(report.tables, "report.xlsx", {.title = "Performance report"});
//   write_tables(report.tables, "csv/", info);      // a folder: one CSV file per table
// Output is written beside its place and renamed when complete: a failed run leaves the old file.
#pragma once

#include <cstddef>
#include <memory>
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

// A sink writes finished tables and nothing else: no sums, no sorting, no choice of unit.
struct Sink {
  virtual ~Sink() = default;
  virtual void write(const Table& table) = 0;  // once per table, in report order; throws Error
  virtual void finish() = 0;                   // renames the temporary file into place
};

// One kind of document. `make` opens the output; it throws Error when it cannot be written.
struct SinkKind {
  std::string_view extension;  // ".xlsx"
  std::unique_ptr<Sink> (*make)(const std::string& output, const DocumentInfo& info);
};
[[nodiscard]] std::span<const SinkKind> sink_kinds();

// The sink for `output`: a folder of CSV files when it ends in '/' or is a folder already,
// otherwise by its extension. Throws Error that lists the known extensions.
[[nodiscard]] std::unique_ptr<Sink> make_sink(const std::string& output, const DocumentInfo& info);

// Throws the Error that make_sink() would for this name or for a folder that is not there, without
// touching anything: for telling a mistake before a large trace is read.
void check_sink(const std::string& output);

// Throws Error when the output cannot be written.
void write_tables(std::span<const Table> tables, const std::string& output,
                  const DocumentInfo& info);

}  // namespace tracelens
