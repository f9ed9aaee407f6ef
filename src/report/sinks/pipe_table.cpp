#include "report/sinks/pipe_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tracelens/table_text.hpp>
#include <vector>

#include "table/utf8.hpp"

namespace tracelens {
namespace {

struct PipeColumn {
  bool is_number = false;
  std::size_t width = 3;           // in characters, at least that of the rule
  std::vector<std::string> cells;  // the name first
};

std::string stripped(const std::string& text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

PipeColumn format_column(const Table::Column& column, std::size_t rows) {
  PipeColumn result;
  const Kind kind = column.spec().kind;
  result.is_number = kind == Kind::kInteger || kind == Kind::kReal;
  result.cells.push_back(column.spec().name);
  for (std::size_t row = 0; row < rows; ++row) {
    if (kind == Kind::kReal && !column.is_missing(row))
      result.cells.push_back(fmt::format("{:g}", column.reals()[row]));
    else
      result.cells.push_back(stripped(single_line(plain_text(column, row))));
  }
  for (const std::string& cell : result.cells)
    result.width = std::max(result.width, display_width(cell));
  return result;
}

void append_padded(std::string& line, const PipeColumn& column, std::size_t row) {
  const std::string& cell = column.cells[row];
  const std::string blanks(column.width - display_width(cell), ' ');
  line += "| ";
  line += column.is_number ? blanks + cell : cell + blanks;
  line += ' ';
}

}  // namespace

std::string pipe_table(const Table& table, std::size_t max_rows) {
  const std::size_t rows = std::min(table.rows(), max_rows);
  std::vector<PipeColumn> columns;
  for (const Table::Column& column : table.columns())
    columns.push_back(format_column(column, rows));
  if (columns.empty()) return {};
  std::string text;
  for (std::size_t row = 0; row <= rows; ++row) {
    for (const PipeColumn& column : columns) append_padded(text, column, row);
    text += "|\n";
    if (row > 0) continue;
    for (const PipeColumn& column : columns) {
      const std::string rule(column.width + 1, '-');
      text += column.is_number ? "|" + rule + ":" : "|:" + rule;
    }
    text += "|\n";
  }
  return text;
}

}  // namespace tracelens
