// table_text.hpp: a table, or one of its cells, as text: for people and for programs.
//   std::cout << render_terminal(table, {.width = 120, .max_rows = 20});
//   append_csv_cell(line, column, row);                      // "a, ""b""", 12.0, True
//   HumanFormat{column}(row);                                // "1,234.5", "63.71", "yes"
// Whole documents are written by sinks.hpp; JSON of a value is in json.hpp. Nothing here fails or
// recurses: a Value may be nested as deeply as its maker managed to. Bytes that are not UTF-8 come
// out as valid UTF-8. Implemented in src/table and src/report/sinks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <tracelens/table.hpp>
#include <tracelens/value.hpp>
#include <vector>

namespace tracelens {

// --- a table on a terminal ---
struct TerminalStyle {
  std::size_t width = 100;   // columns of the terminal; 0: as wide as it gets
  bool colour = false;       // bold, dim and coloured text by ANSI codes
  std::size_t max_rows = 0;  // 0: all
  // Only these columns, the most important first: the last go where there is no room. Empty: all.
  std::vector<std::string_view> columns = {};
};

// Title, header, rows and notes, each line ended by "\n". Numbers are never cut. When the table is
// too wide, headers are wrapped first, then sentences are wrapped and names shortened, then the
// least important columns are left out; what was left out is said below the table. UTF-8; safe
// whatever the cells hold.
[[nodiscard]] std::string render_terminal(const Table& table, const TerminalStyle& style);

// Its lines broken between words where they are wider than this; 0: as they are. What follows a break
// is indented.
[[nodiscard]] std::string wrapped_text(std::string_view text, std::size_t width,
                                       std::size_t indent = 0);

// --- names of columns ---
// Each different from the others: what repeats gets _2, _3 and so on.
[[nodiscard]] std::vector<std::string> distinct_names(std::vector<std::string> names);

// --- cells for programs: Python, CSV and JSON forms ---
// What Python's repr() gives: 'x', 7, 12.0, 1e-05, True, None, (8,), [1, 2], {'name': 'x'}.
[[nodiscard]] std::string python_repr(const Value& value);

// The whole cell as plain text: text as it is, floats in the shortest form that reads back to the
// same number (12.0, 1e-05, inf), True or False, nested values as python_repr (but a nested cell
// that is just text as it is), nothing for a missing cell. Text is repaired to valid UTF-8.
[[nodiscard]] std::string plain_text(const Table::Column& column, std::size_t row);
// No fewer bytes than it has; makes no text.
[[nodiscard]] std::size_t most_plain_bytes(const Table::Column& column, std::size_t row);

// plain_text, or `text`, as one CSV field: in quotes only when it holds a comma, a quote or a line
// break.
void append_csv_cell(std::string& out, const Table::Column& column, std::size_t row);
void append_csv_text(std::string& out, std::string_view text);

// RFC 8259. NaN, infinities and missing cells are null; tuples are arrays.
void append_json_cell(std::string& out, const Table::Column& column, std::size_t row);

// --- cells for people ---
// Every number rule for people is here:
//   percent          2 decimals
//   time (ns to s)   1 to 3 decimals, the same for the whole column, so that points line up
//   other reals      4 significant digits, "1.235e+15" when very large or small
//   changes          with their sign; in percent 1 decimal: "+829.7%" (columns of differences)
//   integers         whole, with thousands separators; columns of unit "id" without them
// Texts and nested values stand on one line, free of control characters; they are not shortened.
class HumanFormat {
 public:
  // Looks at the whole column once. The column must outlive the format.
  explicit HumanFormat(const Table::Column& column);

  [[nodiscard]] std::string operator()(std::size_t row) const;  // "" for a missing cell

 private:
  const Table::Column* column_;
  int decimals_ = -1;  // of every cell; -1: 4 significant digits in each
};

// Numbers stand to the right of their column, everything else to the left.
[[nodiscard]] bool is_numeric(const ColumnSpec& spec);
// Whether a column says by how much something changed, and its numbers have a sign: "difference",
// "new change" (in percent), "diff_pct", "Count__new_diff", "Count__new_pct".
[[nodiscard]] bool is_change(const ColumnSpec& spec);

// The unit to show beside the column's name; empty when there is none or the name tells it already.
[[nodiscard]] std::string_view shown_unit(const ColumnSpec& spec);

// 4 significant digits: 12,346  1.235  0.001235  1.235e+15
[[nodiscard]] std::string four_digits(double value);
// 1234567 -> "1,234,567"; any decimal number, with sign and fraction.
[[nodiscard]] std::string with_separators(std::string number);

}  // namespace tracelens
