#include "analysis/compare/key_cell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <tracelens/table_text.hpp>

#include "io/numbers.hpp"

namespace tracelens {

bool is_blank(const Table::Column& column, std::size_t row) {
  return column.is_missing(row) ||
         (column.spec().kind == Kind::kText && column.texts()[row].empty());
}

bool is_blank(const Table::Column& column) {
  for (std::size_t row = 0; row < column.size(); ++row)
    if (!is_blank(column, row)) return false;
  return true;
}

namespace {

template <class Holds>
bool all_present(const Table::Column& column, const Holds& holds) {
  for (std::size_t row = 0; row < column.present().size(); ++row)
    if (!is_blank(column, row) && !holds(row)) return false;
  return true;
}

}  // namespace

bool is_number(const Table::Column& column) {
  return column.spec().kind == Kind::kInteger || column.spec().kind == Kind::kReal;
}

double number_at(const Table::Column& column, std::size_t row) {
  return column.spec().kind == Kind::kInteger ? static_cast<double>(column.integers()[row])
                                              : column.reals()[row];
}

std::optional<double> number_told(const Table::Column& column, std::size_t row) {
  if (is_number(column)) return number_at(column, row);
  if (column.spec().kind == Kind::kBool) return std::nullopt;
  const std::string text = plain_text(column, row);
  const char* const end = text.data() + text.size();
  double number = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end || !std::isfinite(number)) return std::nullopt;
  return number;
}

bool tells_numbers(const Table::Column& column) {
  return is_number(column) || all_present(column, [&column](std::size_t row) {
           return number_told(column, row).has_value();
         });
}

bool tells_whole_numbers(const Table::Column& column) {
  if (is_number(column)) return column.spec().kind == Kind::kInteger;
  constexpr double kExact = 1LL << 53;  // a double tells larger ones no longer apart
  if (is_blank(column)) return false;
  return all_present(column, [&column](std::size_t row) {
    const auto number = io::parse_int64(plain_text(column, row));
    return number && std::fabs(static_cast<double>(*number)) <= kExact;
  });
}

KeyCell key_cell(const Table::Column& column, std::size_t row, bool as_text) {
  KeyCell cell{.blank = false};
  if (!as_text) {
    cell.number = number_told(column, row).value_or(0);
    return cell;
  }
  cell.text = plain_text(column, row);
  if (cell.text.ends_with(".0") && number_told(column, row)) cell.text.resize(cell.text.size() - 2);
  return cell;
}

bool stands_before(const std::vector<KeyCell>& a, const std::vector<KeyCell>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    if (a[i].blank != b[i].blank) return b[i].blank;
    if (a[i].number != b[i].number) return a[i].number < b[i].number;
    return a[i].text < b[i].text;
  }
  return false;
}

std::string bytes_of(const std::vector<KeyCell>& key) {
  std::string bytes;
  for (const KeyCell& cell : key)
    bytes += cell.blank ? std::string{"-"}
                        : fmt::format("{}:{}:{}", cell.number, cell.text.size(), cell.text);
  return bytes;
}

}  // namespace tracelens
