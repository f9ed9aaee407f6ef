#include "analysis/ranks/rank_lists.hpp"

#include <charconv>
#include <string_view>

#include "io/numbers.hpp"

namespace tracelens {
namespace {

// No group is larger than this: a made-up size must not become a list of a billion ranks.
constexpr std::int64_t kLargestGroup = 1 << 20;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trim(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

struct ParsedList {
  std::vector<std::int64_t> numbers;
  std::optional<std::size_t> gap;  // "..." stands before this number
};

// "[0, 1]" or "(0, 1)", with or without a last comma; nothing when the text is anything else.
std::optional<ParsedList> parse_list(std::string_view text) {
  text = trim(text);
  const bool is_bracketed = text.size() >= 2 && ((text.front() == '[' && text.back() == ']') ||
                                                 (text.front() == '(' && text.back() == ')'));
  if (!is_bracketed) return std::nullopt;
  text = trim(text.substr(1, text.size() - 2));
  ParsedList list;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view item = trim(text.substr(0, comma));
    if (item == "...") {
      if (list.gap) return std::nullopt;
      list.gap = list.numbers.size();
    } else if (const auto number = io::parse_int64(item)) {
      list.numbers.push_back(*number);
    } else {
      return std::nullopt;
    }
    text = comma == std::string_view::npos ? std::string_view{} : trim(text.substr(comma + 1));
  }
  return list;
}

std::vector<std::int64_t> numbers_in(std::string_view text) {
  std::vector<std::int64_t> numbers;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_digit(text[at])) {
      ++at;
      continue;
    }
    std::int64_t number = 0;
    const auto result = std::from_chars(text.data() + at, text.data() + text.size(), number);
    if (result.ec == std::errc{}) numbers.push_back(number);
    while (at < text.size() && is_digit(text[at])) ++at;
  }
  return numbers;
}

// A whole Python value that is no list: a number, a set, a quoted text.
bool is_other_literal(std::string_view text) {
  text = trim(text);
  if (text.empty()) return false;
  const char first = text.front(), last = text.back();
  return io::parse_int64(text).has_value() || (first == '{' && last == '}') ||
         (text.size() > 1 && (first == '\'' || first == '"') && last == first);
}

// The numbers between those before and after the gap, when they go on by equal steps.
std::vector<std::int64_t> filled(const ParsedList& list, const Value& group_size) {
  const auto& known = list.numbers;
  const std::int64_t size = group_size.as_int();
  if (known.size() < 2 || *list.gap < 2 || size < static_cast<std::int64_t>(known.size()) ||
      size > kLargestGroup)
    return {};
  // Ids beyond 2^32 are no ranks; checking them keeps the products below in range.
  constexpr std::int64_t kLargestRank = std::int64_t{1} << 32;
  for (const std::int64_t rank : known)
    if (rank < 0 || rank > kLargestRank) return {};
  const std::int64_t first = known[0], step = known[1] - known[0];
  const auto expected = [&](std::int64_t position) { return first + position * step; };
  for (std::size_t i = 0; i < known.size(); ++i) {
    const auto from_end = static_cast<std::int64_t>(known.size() - i);
    const auto position = i < *list.gap ? static_cast<std::int64_t>(i) : size - from_end;
    if (known[i] != expected(position)) return {};
  }
  std::vector<std::int64_t> all(static_cast<std::size_t>(size));
  for (std::int64_t i = 0; i < size; ++i) all[static_cast<std::size_t>(i)] = expected(i);
  return all;
}

std::vector<std::int64_t> integers_of(const Value& sequence) {
  std::vector<std::int64_t> numbers;
  for (const Value& item : sequence.items())
    if (item.is_int()) numbers.push_back(item.as_int());
  return numbers;
}

}  // namespace

std::vector<std::int64_t> rank_list(const Value& ranks, const Value& group_size) {
  if (ranks.is_sequence()) return integers_of(ranks);
  if (!ranks.is_text()) return {};
  if (const auto list = parse_list(ranks.as_text()))
    return list->gap ? filled(*list, group_size) : list->numbers;
  if (is_other_literal(ranks.as_text())) return {};
  return numbers_in(ranks.as_text());
}

std::optional<std::vector<std::int64_t>> split_sizes(const Value& splits) {
  if (splits.is_sequence()) return integers_of(splits);
  if (!splits.is_text() || !trim(splits.as_text()).starts_with('[')) return std::nullopt;
  auto list = parse_list(splits.as_text());
  if (!list || list->gap) return std::nullopt;
  return std::move(list->numbers);
}

}  // namespace tracelens
