#include "sqlite/names.hpp"

namespace tracelens::db {
namespace {

std::string in_quotes(std::string_view text, char quote) {
  std::string out{quote};
  for (const char c : text) {
    if (c == '\0') continue;  // would end the statement
    if (c == quote) out.push_back(quote);
    out.push_back(c);
  }
  out.push_back(quote);
  return out;
}

}  // namespace

std::string quoted_name(std::string_view name) { return in_quotes(name, '"'); }
std::string quoted_text(std::string_view text) { return in_quotes(text, '\''); }

}  // namespace tracelens::db
