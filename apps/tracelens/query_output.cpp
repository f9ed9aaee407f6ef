#include "query_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <tracelens/json.hpp>
#include <tracelens/printed_text.hpp>
#include <utility>

namespace tracelens::app {
namespace {

constexpr std::size_t kRowsOfTable = 1000, kFlushBytes = 1 << 16;

std::string hex(std::span<const std::byte> bytes) {
  std::string out;
  for (const std::byte byte : bytes)
    fmt::format_to(std::back_inserter(out), "{:02x}", std::to_integer<unsigned>(byte));
  return out;
}

// The shortest text that reads back as the same number, with a point or an exponent in it.
std::string real_text(double value) {
  std::array<char, 40> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text{buffer.data(), end};
  if (std::isfinite(value) && text.find_first_of(".e") == text.npos) text += ".0";
  return text;
}

std::string cell_text(const QueryCell& cell) {
  if (const auto* const integer = std::get_if<std::int64_t>(&cell)) return std::to_string(*integer);
  if (const auto* const real = std::get_if<double>(&cell)) return real_text(*real);
  if (const auto* const text = std::get_if<std::string_view>(&cell)) return std::string{*text};
  if (const auto* const bytes = std::get_if<std::span<const std::byte>>(&cell)) return hex(*bytes);
  return {};
}

void append_json_value(std::string& out, const QueryCell& cell) {
  const auto* const real = std::get_if<double>(&cell);
  if (std::holds_alternative<std::monostate>(cell) || (real && !std::isfinite(*real))) {
    out += "null";
  } else if (std::holds_alternative<std::int64_t>(cell) || std::holds_alternative<double>(cell)) {
    out += cell_text(cell);
  } else {
    append_json_text(out, cell_text(cell));
  }
}

void append_row(std::string& out, std::span<const QueryCell> row) {
  out += '[';
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) out += ", ";
    append_json_value(out, row[i]);
  }
  out += ']';
}

std::string markdown_cell(std::string_view text) {
  std::string out;
  for (const char c : single_line(text)) {
    if (c == '|' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

const std::vector<std::string>& query_format_names() {
  static const std::vector<std::string> names{"table", "csv", "json", "jsonl", "md"};
  return names;
}

QueryFormat query_format(std::string_view name) {
  const auto& names = query_format_names();
  return static_cast<QueryFormat>(std::ranges::find(names, name) - names.begin());
}

std::optional<QueryFormat> format_of_file(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  const std::string_view end = dot == path.npos ? std::string_view{} : path.substr(dot + 1);
  if (end == "txt") return QueryFormat::kTable;
  if (end == "table" || std::ranges::count(query_format_names(), end) == 0) return std::nullopt;
  return query_format(end);
}

QueryOutput::QueryOutput(QueryFormat format, std::size_t most_rows, TerminalStyle style,
                         Write write)
    : format_{format}, most_rows_{most_rows}, style_{std::move(style)}, write_{std::move(write)} {}

QueryRows QueryOutput::rows() {
  return {.on_columns = [this](std::span<const std::string> columns) { begin(columns); },
          .on_row = [this](std::span<const QueryCell> row) { return add(row); },
          .on_end = [this] { end(); }};
}

void QueryOutput::begin(std::span<const std::string> columns) {
  columns_.assign(columns.begin(), columns.end());
  if (format_ == QueryFormat::kJsonLines) columns_ = distinct_names(std::move(columns_));  // keys
  kept_.clear();
  count_ = 0;
  if (results_++ > 0 && format_ != QueryFormat::kJsonLines) text_ += '\n';
  switch (format_) {
    case QueryFormat::kCsv:
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (i > 0) text_ += ',';
        append_csv_text(text_, columns_[i]);
      }
      text_ += '\n';
      break;
    case QueryFormat::kJson:
      text_ += "{\"columns\": [";
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (i > 0) text_ += ", ";
        append_json_text(text_, columns_[i]);
      }
      text_ += "], \"rows\": [";
      break;
    case QueryFormat::kMarkdown:
      text_ += '|';
      for (const std::string& column : columns_) text_ += ' ' + markdown_cell(column) + " |";
      text_ += "\n|";
      for (std::size_t i = 0; i < columns_.size(); ++i) text_ += " --- |";
      text_ += '\n';
      break;
    case QueryFormat::kTable:
    case QueryFormat::kJsonLines:
      break;
  }
}

bool QueryOutput::add(std::span<const QueryCell> row) {
  if (format_ != QueryFormat::kTable && most_rows_ > 0 && count_ == most_rows_) return false;
  ++count_;
  switch (format_) {
    case QueryFormat::kTable:
      if (kept_.size() < (most_rows_ > 0 ? most_rows_ : kRowsOfTable)) {
        std::vector<Cell>& cells = kept_.emplace_back();
        for (const QueryCell& cell : row) {
          if (const auto* const integer = std::get_if<std::int64_t>(&cell))
            cells.emplace_back(*integer);
          else if (const auto* const real = std::get_if<double>(&cell))
            cells.emplace_back(*real);
          else if (std::holds_alternative<std::monostate>(cell))
            cells.emplace_back(kMissing);
          else
            cells.emplace_back(cell_text(cell));
        }
      }
      break;
    case QueryFormat::kCsv: {
      const std::size_t start = text_.size();
      for (std::size_t i = 0; i < row.size(); ++i) {
        if (i > 0) text_ += ',';
        append_csv_text(text_, cell_text(row[i]));
      }
      if (text_.size() == start) text_ += "\"\"";  // a blank line would be no row
      text_ += '\n';
      break;
    }
    case QueryFormat::kJson:
      text_ += count_ > 1 ? ",\n" : "\n";
      append_row(text_, row);
      break;
    case QueryFormat::kJsonLines:
      text_ += '{';
      for (std::size_t i = 0; i < row.size(); ++i) {
        if (i > 0) text_ += ", ";
        append_json_text(text_, columns_[i]);
        text_ += ": ";
        append_json_value(text_, row[i]);
      }
      text_ += "}\n";
      break;
    case QueryFormat::kMarkdown:
      text_ += '|';
      for (const QueryCell& cell : row) text_ += ' ' + markdown_cell(cell_text(cell)) + " |";
      text_ += '\n';
      break;
  }
  flush_if_large();
  return true;
}

void QueryOutput::end() {
  if (format_ == QueryFormat::kJson) text_ += "\n]}\n";
  if (format_ == QueryFormat::kTable) {
    // A column is of integers, of reals or of texts, by what is in it.
    std::vector<ColumnSpec> specs;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      bool integers = true, numbers = true;
      for (const std::vector<Cell>& cells : kept_) {
        const bool is_missing = std::holds_alternative<Missing>(cells[i]);
        const bool is_integer = std::holds_alternative<std::int64_t>(cells[i]);
        integers = integers && (is_missing || is_integer);
        numbers = numbers && (is_missing || is_integer || std::holds_alternative<double>(cells[i]));
      }
      const Kind kind = integers ? Kind::kInteger : numbers ? Kind::kReal : Kind::kText;
      specs.push_back({columns_[i], kind, integers ? "id" : "", ""});
    }
    Table table{"", "", specs};
    for (std::vector<Cell>& cells : kept_) {
      for (std::size_t i = 0; i < cells.size(); ++i)
        if (specs[i].kind == Kind::kText && !std::holds_alternative<Missing>(cells[i])) {
          if (const auto* const integer = std::get_if<std::int64_t>(&cells[i]))
            cells[i] = std::to_string(*integer);
          else if (const auto* const real = std::get_if<double>(&cells[i]))
            cells[i] = real_text(*real);
        }
      table.append(cells);
    }
    text_ += render_terminal(table, style_);
    if (count_ > kept_.size())
      text_ += fmt::format("{} of {} rows; --rows or another --format shows more\n", kept_.size(),
                           count_);
  }
  write_(text_);
  text_.clear();
}

void QueryOutput::flush_if_large() {
  if (text_.size() < kFlushBytes) return;
  write_(text_);
  text_.clear();
}

}  // namespace tracelens::app
