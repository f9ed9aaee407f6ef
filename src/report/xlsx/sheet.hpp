// sheet.hpp: the XML of one sheet: what stands before its cells, the cells, and what comes after.
//   std::string xml = sheet_head(head);
//   Cells cells{xml, head.columns.size()};
//   cells.begin_row(0);  cells.text(0, "name", header);  cells.number(1, 12.5, kPlain);
//   cells.end_row();
//   xml += sheet_tail(tail);
// Rows go from top to bottom and cells from left to right; both are counted from 0 here. Rows may be
// written apart, by several threads, and put together. Texts stand in their cells, not in a table of
// the whole workbook: no sheet waits for another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracelens::xlsx {

struct Column {
  double width = 0;         // in characters
  bool is_hidden = false;   // at first
  bool is_folded = false;   // hidden with a button to open it
  bool has_button = false;  // for the folded ones before it
};

// A part of a sheet, its last row and column included.
struct Area {
  std::size_t first_row = 0, first_column = 0, last_row = 0, last_column = 0;
};
[[nodiscard]] std::string area_name(const Area& area);           // "A1:C9", "A1"
[[nodiscard]] std::string absolute_area_name(const Area& area);  // "$A$1:$C$9"

struct SheetHead {
  std::vector<Column> columns;
  std::optional<Area> used = {};
  std::size_t frozen_rows = 0, frozen_columns = 0;
  bool is_first = false;  // the one that is open
  bool is_page = false;   // to be read and printed as one: without a grid, across
};
[[nodiscard]] std::string sheet_head(const SheetHead& head);

class Cells {
 public:
  Cells(std::string& out, std::size_t columns);  // `out` must outlive it
  void begin_row(std::size_t row);
  void text(std::size_t column, std::string_view text, unsigned style);  // as sheet_text() gives it
  void number(std::size_t column, double value, unsigned style);         // finite
  void integer(std::size_t column, std::int64_t value, unsigned style);
  void truth(std::size_t column, bool value);
  void end_row();

 private:
  void begin_cell(std::size_t column, unsigned style);
  std::string& out_;
  std::vector<std::string> letters_;  // of columns
  std::string row_;                   // its number
};

// Bars behind the numbers of one column, from 0 to 100 or to the largest.
struct Bars {
  Area area;
  bool up_to_hundred = false;
};

struct SheetTail {
  std::size_t number = 1;  // of the sheet, from 1
  std::optional<Area> filter = {};
  std::vector<Bars> bars = {};
  bool has_notes = false;
  bool has_drawing = false;
  bool is_page = false;
};
[[nodiscard]] std::string sheet_tail(const SheetTail& tail);

// The names by which a sheet refers to parts beside it.
inline constexpr std::string_view kNoteShapesId = "rId1", kNotesId = "rId2", kDrawingId = "rId3";

// Pixels a column takes on the screen.
[[nodiscard]] std::size_t pixels_of(const Column& column);

}  // namespace tracelens::xlsx
