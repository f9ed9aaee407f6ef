#include "report/replay/schema.hpp"

namespace tracelens {
namespace {

constexpr std::string_view kBlank = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == text.npos) return "";
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// Where the bracket at `open` is closed; npos: nowhere. Quoted text has no brackets.
std::size_t closing(std::string_view text, std::size_t open) {
  int depth = 0;
  char quote = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '(' || c == '[') {
      ++depth;
    } else if ((c == ')' || c == ']') && --depth == 0) {
      return i;
    }
  }
  return text.npos;
}

// At the commas that stand in no bracket.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> items;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[') {
      const std::size_t end = closing(text, i);
      if (end == text.npos) break;
      i = end;
    } else if (text[i] == ',') {
      items.push_back(trimmed(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  if (const std::string_view last = trimmed(text.substr(begin)); !last.empty())
    items.push_back(last);
  return items;
}

// "Tensor(a!)" -> "Tensor", "Tensor(a!)[]" -> "Tensor[]"
std::string without_alias(std::string_view type) {
  std::string out;
  for (std::size_t i = 0; i < type.size(); ++i) {
    if (type[i] == '(') {
      i = closing(type, i);
      if (i == type.npos) break;
      continue;
    }
    out += type[i];
  }
  return out;
}

// "SymInt[2] stride=[1, 1]"; the type may hold blanks, inside brackets only.
std::optional<SchemaArgument> parse_argument(std::string_view item) {
  std::size_t at = 0;
  while (at < item.size() && kBlank.find(item[at]) == kBlank.npos) {
    if (item[at] == '(' || item[at] == '[') {
      at = closing(item, at);
      if (at == item.npos) return std::nullopt;
    }
    ++at;
  }
  const std::string_view rest = trimmed(item.substr(at));
  const std::size_t equals = rest.find('=');
  SchemaArgument argument{.type = without_alias(item.substr(0, at)),
                          .name = std::string{trimmed(rest.substr(0, equals))},
                          .has_default = equals != rest.npos};
  if (argument.type.empty() || argument.name.empty()) return std::nullopt;
  return argument;
}

}  // namespace

std::optional<Schema> parse_schema(std::string_view line) {
  const std::size_t open = line.find('(');
  if (open == line.npos) return std::nullopt;
  const std::size_t close = closing(line, open);
  if (close == line.npos) return std::nullopt;
  const std::string_view name = trimmed(line.substr(0, open));
  if (name.empty() || name.find_first_of(kBlank) != name.npos) return std::nullopt;
  Schema schema{.op = std::string{name.substr(0, name.find('.'))}, .arguments = {}};
  bool keyword_only = false;
  for (const std::string_view item : split(line.substr(open + 1, close - open - 1))) {
    if (item == "*") {
      keyword_only = true;
      continue;
    }
    std::optional<SchemaArgument> argument = parse_argument(item);
    if (!argument) return std::nullopt;
    argument->keyword_only = keyword_only;
    schema.arguments.push_back(*std::move(argument));
  }
  return schema;
}

}  // namespace tracelens
