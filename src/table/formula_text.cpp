#include "table/formula_text.hpp"

#include <charconv>
#include <system_error>

namespace tracelens {
namespace {

// Whether it begins like a formula behind any number of quotes: what is guarded already gets one
// more, so that taking one away always gives the text back.
bool begins_like_formula(std::string_view text) {
  const std::size_t first = text.find_first_not_of('\'');
  return first != std::string_view::npos &&
         std::string_view{"=+-@\t\r"}.find(text[first]) != std::string_view::npos;
}

bool is_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && stop == end;
}

}  // namespace

std::string guarded_text(std::string_view text) {
  return (begins_like_formula(text) && !is_number(text) ? "'" : "") + std::string{text};
}

std::string_view unguarded_text(std::string_view text) {
  if (text.starts_with('\'') && begins_like_formula(text)) text.remove_prefix(1);
  return text;
}

}  // namespace tracelens
