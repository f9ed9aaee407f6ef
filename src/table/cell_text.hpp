// cell_text.hpp: how values become text that programs read: Python, CSV and JSON forms.
//   python_repr(Value::tuple({Value::tuple({8, 4}), Value::tuple({})}))   // ((8, 4), ())
//   append_csv_cell(line, column, row);                                   // "a, ""b""", 12.0, True
//   append_json_cell(document, column, row);                              // "a, \"b\"", 12.0, true
// Text for people is made in human_format.hpp. Nothing here recurses: a Value may be nested as
// deeply as its maker managed to. Bytes that are not UTF-8 come out as valid UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <tracelens/table.hpp>
#include <tracelens/value.hpp>

namespace tracelens {

// What Python's repr() gives: 'x', 7, 12.0, 1e-05, True, None, (8,), [1, 2], {'name': 'x'}.
[[nodiscard]] std::string python_repr(const Value& value);

// The whole cell as plain text: text as it is, floats in the shortest form that reads back to the
// same number (12.0, 1e-05, inf), True or False, nested values as python_repr (but a nested cell
// that is just text as it is), nothing for a missing cell. Text is repaired to valid UTF-8.
[[nodiscard]] std::string plain_text(const Table::Column& column, std::size_t row);

// plain_text, or `text`, as one CSV field: in quotes only when it holds a comma, a quote or a line
// break.
void append_csv_cell(std::string& out, const Table::Column& column, std::size_t row);
void append_csv_text(std::string& out, std::string_view text);

// RFC 8259. NaN, infinities and missing cells are null; tuples are arrays.
void append_json_cell(std::string& out, const Table::Column& column, std::size_t row);
void append_json(std::string& out, const Value& value);
void append_json_text(std::string& out, std::string_view text);

}  // namespace tracelens
