// workbook.hpp: an .xlsx file from the finished XML of its sheets.
//   write_workbook(file, sheets, styles, {.title = "Performance report"});
//   file.commit();
// A sheet is pieces of text that any thread has made and packed (io/gzip_pieces.hpp); this puts them
// together. libxlsxwriter would do it all with one thread at the very end of a report, a fifth of its
// time, by way of temporary files whose failures it does not notice.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "io/gzip_pieces.hpp"
#include "io/output_file.hpp"
#include "report/xlsx/charts.hpp"
#include "report/xlsx/sheet.hpp"
#include "report/xlsx/styles.hpp"

namespace tracelens::xlsx {

struct Sheet {
  std::string name;                               // legal and unique
  std::vector<io::GzipPiece> xml;                 // from sheet_head() to sheet_tail()
  std::vector<io::GzipPiece> notes, note_shapes;  // both empty when the sheet has none
  std::optional<Area> filter = {};
  std::vector<Chart> charts = {};
  std::string drawing = {};  // of the charts
};

// What Excel shows under File > Info.
struct Properties {
  std::string title = {}, subject = {}, author = {}, comments = {};
};

void write_workbook(io::OutputFile& file, std::span<const Sheet> sheets, const Styles& styles,
                    const Properties& properties);

}  // namespace tracelens::xlsx
