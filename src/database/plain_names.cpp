#include "database/plain_names.hpp"

#include <cctype>
#include <tracelens/table_text.hpp>
#include <utility>

namespace tracelens::db {
namespace {

struct Spelling {
  std::string_view sign, letters;
};
constexpr Spelling kSpellings[] = {
    {"\u00b5", "u"}, {"\u03bc", "u"}, {"%", " pct "}, {"/", " per "}};

}  // namespace

std::string plain_name(std::string_view title) {
  std::string spelled{title};
  for (const Spelling& spelling : kSpellings)
    for (std::size_t at = 0; (at = spelled.find(spelling.sign, at)) != std::string::npos;)
      spelled.replace(at, spelling.sign.size(), spelling.letters);
  std::string name;
  bool gap = false;
  for (const char c : spelled) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || std::isalnum(byte) == 0) {
      gap = true;
      continue;
    }
    if (gap && !name.empty()) name.push_back('_');
    gap = false;
    name.push_back(static_cast<char>(std::tolower(byte)));
  }
  return name.empty() ? "column" : name;
}

std::vector<std::string> plain_names(const Table& table) {
  std::vector<std::string> names;
  for (const Table::Column& column : table.columns())
    names.push_back(plain_name(column.spec().name));
  return distinct_names(std::move(names));
}

}  // namespace tracelens::db
