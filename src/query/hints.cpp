#include "query/hints.hpp"

#include <algorithm>
#include <tracelens/printed_text.hpp>

#include "table/utf8.hpp"

namespace tracelens::query {
std::string marked_line(std::string_view statement, int offset) {
  if (offset < 0 || static_cast<std::size_t>(offset) > statement.size()) return {};
  const auto at = static_cast<std::size_t>(offset);
  constexpr std::size_t kBefore = 60, kAfter = 60;
  const std::size_t line = statement.substr(0, at).rfind('\n') + 1;  // npos + 1 is 0
  const std::size_t end = std::min(statement.find('\n', at), statement.size());
  const std::size_t from = at - line > kBefore ? at - kBefore : line;
  const std::size_t to = end - at > kAfter ? at + kAfter : end;
  const std::string before = single_line(statement.substr(from, at - from));
  return "  " + before + single_line(statement.substr(at, to - at)) + "\n  " +
         std::string(display_width(before), ' ') + "^";
}

}  // namespace tracelens::query
