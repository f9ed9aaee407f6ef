#include "report/import/csv_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <set>
#include <system_error>
#include <utility>
#include <variant>

#include "io/numbers.hpp"

namespace tracelens {
namespace {

constexpr std::string_view kBlanks[] = {
    "",     "#N/A", "#N/A N/A", "#NA",  "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A",  "NA",       "NULL", "NaN",     "None",     "n/a",  "nan",  "null"};

struct Seen {
  bool blank = false, whole = false, real = false, truth = false, text = false;
};

Seen kinds_in(const std::vector<Cell>& cells) {
  Seen seen;
  for (const Cell& cell : cells) {
    seen.blank |= std::holds_alternative<Missing>(cell);
    seen.whole |= std::holds_alternative<std::int64_t>(cell);
    seen.real |= std::holds_alternative<double>(cell);
    seen.truth |= std::holds_alternative<bool>(cell);
    seen.text |= std::holds_alternative<std::string>(cell);
  }
  return seen;
}

Kind kind_of(const Seen& seen) {
  if (seen.text || (seen.truth && (seen.blank || seen.whole || seen.real))) return Kind::kText;
  if (seen.truth) return Kind::kBool;
  return seen.whole && !seen.real && !seen.blank ? Kind::kInteger : Kind::kReal;
}

// What the cell says when its column turned out to be text.
Cell as_text(Cell cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&cell)) return io::shortest_double(*real);
  if (const auto* truth = std::get_if<bool>(&cell)) return std::string{*truth ? "True" : "False"};
  return cell;
}

std::vector<std::string> distinct(std::vector<std::string> names) {
  std::set<std::string> taken;
  std::map<std::string, int> used;  // the last number of each name
  for (std::string& name : names) {
    std::string free = name;
    while (!taken.insert(free).second) free = fmt::format("{}.{}", name, ++used[name]);
    name = std::move(free);
  }
  return names;
}

}  // namespace

bool is_blank_text(std::string_view text) {
  return std::ranges::find(kBlanks, text) != std::end(kBlanks);
}

Cell cell_of_text(std::string_view text) {
  if (is_blank_text(text)) return Missing{};
  if (const auto whole = io::parse_int64(text)) return *whole;
  if (text == "True" || text == "False") return text == "True";
  double value = 0;
  const char* const begin = text.data() + (text.front() == '+' ? 1 : 0);
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
  if (end == text.data() + text.size() && error == std::errc{}) return value;
  return std::string{text};
}

Table typed_table(LooseTable loose) {
  const std::vector<std::string> names = distinct(std::move(loose.header));
  std::vector<ColumnSpec> specs;
  for (std::size_t i = 0; i < names.size(); ++i)
    specs.push_back({names[i], kind_of(kinds_in(loose.columns[i])), "", ""});
  Table table{std::move(loose.name), "", specs};
  const std::size_t rows = loose.columns.empty() ? 0 : loose.columns.front().size();
  std::vector<Cell> row(names.size());
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      row[i] = std::move(loose.columns[i][r]);
      if (specs[i].kind == Kind::kText) row[i] = as_text(std::move(row[i]));
    }
    table.append(row);
  }
  return table;
}

}  // namespace tracelens
