// key_cell.hpp: one cell of a key, ready to be held against the same cell of another report.
//   key_cell(column, row, false) == key_cell(other, row, false)   // 8192 and the text "8192.0"
// Numbers of a CSV file are text in a workbook or a trace's table whose other rows have words, and
// nested values in a trace's parameters.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <tracelens/table.hpp>
#include <vector>

namespace tracelens {

struct KeyCell {
  bool blank = true;
  double number = 0;
  std::string text = {};
  bool operator==(const KeyCell&) const = default;
};

// Missing, or text without a letter: a file that is read back does not tell the two apart.
[[nodiscard]] bool is_blank(const Table::Column& column, std::size_t row);
[[nodiscard]] bool is_blank(const Table::Column& column);  // throughout
[[nodiscard]] bool is_number(const Table::Column& column);
// A cell of a column of numbers.
[[nodiscard]] double number_at(const Table::Column& column, std::size_t row);
// The same, or the finite number that a text or a nested value is; the cell must be there.
[[nodiscard]] std::optional<double> number_told(const Table::Column& column, std::size_t row);
// Whether all its cells are numbers, perhaps as text.
[[nodiscard]] bool tells_numbers(const Table::Column& column);
[[nodiscard]] bool tells_whole_numbers(const Table::Column& column);

// As text, 8192 and 8192.0 are one number, too. Not as text, the column must tell numbers.
[[nodiscard]] KeyCell key_cell(const Table::Column& column, std::size_t row, bool as_text);

// Numbers by size, text by code point, blanks last.
[[nodiscard]] bool stands_before(const std::vector<KeyCell>& a, const std::vector<KeyCell>& b);

// Bytes that are equal exactly when the keys are.
[[nodiscard]] std::string bytes_of(const std::vector<KeyCell>& key);

}  // namespace tracelens
