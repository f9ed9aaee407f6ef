// csv_reader.hpp: a CSV file, as this program and others write it, read back as a Table.
//   const Table table = read_csv_table("ops_summary", read_text_file("out/ops_summary.csv"));
// Commas, quotes doubled inside quotes, "\n" or "\r\n"; the first record is the header. Short
// records are filled with blanks, fields beyond the header are dropped, blank lines skipped. A file
// without a header is a table without columns. The ' before text that a spreadsheet would run is
// taken away, but from what the Python TraceLens wrote.
#pragma once

#include <string>
#include <string_view>
#include <tracelens/edition.hpp>
#include <tracelens/table.hpp>

namespace tracelens {

[[nodiscard]] Table read_csv_table(std::string name, std::string_view text,
                                   Edition edition = Edition::kExtended);

}  // namespace tracelens
