// literals.cpp: see literals.hpp.
#include "perf/core/literals.hpp"

#include <charconv>

namespace tracelens::perf {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\r";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

template <class T>
std::optional<T> whole_number(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "[a, b]" or "(a, b)": every element through `parse`. "[]" is the empty list.
template <class T, class Parse>
std::optional<std::vector<T>> list_of(std::string_view text, Parse parse) {
  text = trimmed(text);
  if (text.size() < 2) return std::nullopt;
  const bool bracketed =
      (text.front() == '[' && text.back() == ']') || (text.front() == '(' && text.back() == ')');
  if (!bracketed) return std::nullopt;
  text = trimmed(text.substr(1, text.size() - 2));
  std::vector<T> items;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const auto item = parse(text.substr(0, comma));
    if (!item) return std::nullopt;
    items.push_back(*item);
    text = comma == std::string_view::npos ? std::string_view{} : trimmed(text.substr(comma + 1));
  }
  return items;
}

}  // namespace

std::optional<std::int64_t> parse_int(std::string_view text) {
  return whole_number<std::int64_t>(text);
}

std::optional<double> parse_real(std::string_view text) { return whole_number<double>(text); }

std::optional<bool> parse_bool(std::string_view text) {
  text = trimmed(text);
  if (text == "True" || text == "true") return true;
  if (text == "False" || text == "false") return false;
  return std::nullopt;
}

std::optional<std::vector<std::int64_t>> parse_ints(std::string_view text) {
  return list_of<std::int64_t>(text, parse_int);
}

std::optional<std::vector<bool>> parse_bools(std::string_view text) {
  return list_of<bool>(text, parse_bool);
}

std::optional<std::vector<double>> parse_reals(std::string_view text) {
  return list_of<double>(text, parse_real);
}

}  // namespace tracelens::perf
