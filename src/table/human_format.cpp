// human_format.cpp: the rules stated in the header.
#include <tracelens/table_text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>

#include "table/utf8.hpp"

namespace tracelens {
namespace {

constexpr std::string_view kTimeUnits[] = {"ns", "µs", "us", "ms", "s"};

double largest_magnitude(const Table::Column& column) {
  double largest = 0;
  for (const double value : column.reals())
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  return largest;
}

bool has_whole_numbers(const Table::Column& column) {
  return std::ranges::all_of(column.reals(), [](double value) {
    return !std::isfinite(value) || std::floor(value) == value;
  });
}

int decimals_of(const Table::Column& column) {
  const std::string& unit = column.spec().unit;
  if (unit.empty() && has_whole_numbers(column)) return 0;  // a count, averaged or not
  if (unit == "%") return 2;
  if (std::ranges::find(kTimeUnits, unit) == std::end(kTimeUnits)) return -1;
  const double largest = largest_magnitude(column);
  return largest < 100 ? 3 : largest < 1000 ? 2 : 1;
}

// "time_ms" and "time (ms)" have the word "ms", "params" has not.
bool has_word(std::string_view text, std::string_view word) {
  const auto is_letter = [text](std::size_t at) {
    return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
  };
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1))
    if (!is_letter(at - 1) && !is_letter(at + word.size())) return true;  // 0 - 1 is past the end
  return false;
}

// Nobody reads 3.815e-06 MB.
bool is_next_to_nothing(double value, std::string_view unit) {
  constexpr double kLeast = 1e-4;
  return value > 0 && value < kLeast && (unit == "MB" || unit == "MiB" || unit == "GB");
}

std::string fixed(double value, int decimals) {
  return with_separators(fmt::format("{:.{}f}", value, decimals));
}

std::string real_text(double value, int decimals) {
  const bool fits = decimals >= 0 && std::abs(value) < 1e15;
  return fits ? fixed(value, decimals) : four_digits(value);
}

// The same text with a plus before what grew, and the percent sign beside the number.
std::string as_change(std::string text, double value, bool is_percent) {
  if (value > 0) text.insert(0, 1, '+');
  return is_percent ? text + '%' : text;
}

}  // namespace

HumanFormat::HumanFormat(const Table::Column& column) : column_{&column} {
  if (column.spec().kind == Kind::kReal) decimals_ = decimals_of(column);
}

std::string HumanFormat::operator()(std::size_t row) const {
  if (column_->is_missing(row)) return {};
  const ColumnSpec& spec = column_->spec();
  if (is_change(spec) && is_numeric(spec)) {
    const bool is_whole = spec.kind == Kind::kInteger,
               is_percent = spec.unit == "%" || spec.name.ends_with("change");
    const double value =
        is_whole ? static_cast<double>(column_->integers()[row]) : column_->reals()[row];
    if (is_percent && std::abs(value) < 1e15) return as_change(fixed(value, 1), value, true);
    return as_change(
        is_whole ? with_separators(plain_text(*column_, row)) : real_text(value, decimals_), value,
        is_percent);
  }
  switch (column_->spec().kind) {
    case Kind::kInteger: {
      std::string digits = plain_text(*column_, row);
      return column_->spec().unit == "id" ? digits : with_separators(std::move(digits));
    }
    case Kind::kReal: {
      const double value = column_->reals()[row];
      if (is_next_to_nothing(value, column_->spec().unit)) return "<0.0001";
      return real_text(value, decimals_);
    }
    case Kind::kBool:
      return column_->integers()[row] != 0 ? "yes" : "no";
    default:
      return single_line(plain_text(*column_, row));
  }
}

bool is_change(const ColumnSpec& spec) {
  const std::string_view name = spec.name;
  return name.ends_with("difference") || name == "change" || name.ends_with(" change") ||
         name.ends_with("diff") || name == "diff_pct" ||
         (name.ends_with("_pct") && name.find("__") != name.npos);
}

bool is_numeric(const ColumnSpec& spec) {
  return spec.kind == Kind::kInteger || spec.kind == Kind::kReal;
}

std::string_view shown_unit(const ColumnSpec& spec) {
  if (spec.unit == "%" && is_change(spec)) return {};  // stands beside every number
  const bool is_name = spec.unit == "id" || spec.unit == "text";
  return is_name || has_word(spec.name, spec.unit) ? std::string_view{} : spec.unit;
}

std::string four_digits(double value) {
  const double magnitude = std::abs(value);
  if (!std::isfinite(value) || magnitude == 0) return fmt::format("{}", value);
  if (magnitude >= 1e12 || magnitude < 1e-4) return fmt::format("{:.3e}", value);
  if (magnitude >= 1000) return fixed(value, 0);
  const int exponent = static_cast<int>(std::floor(std::log10(magnitude)));
  return fixed(value, 3 - exponent);
}

std::string with_separators(std::string number) {
  const std::size_t first = number.find_first_of("0123456789");
  if (first == std::string::npos) return number;  // "inf"
  const std::size_t end = std::min(number.find_first_not_of("0123456789", first), number.size());
  for (std::size_t at = end; at > first + 3;) number.insert(at -= 3, 1, ',');
  return number;
}

}  // namespace tracelens
