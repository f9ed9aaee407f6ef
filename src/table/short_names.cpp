#include "table/short_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "table/utf8.hpp"

namespace tracelens {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Whether it reads like a C++ function with template arguments or parameters; shapes begin with a
// bracket, and behind the line of a Python file comes its function.
bool is_cpp_name(std::string_view name) {
  if (name.empty() || !is_word(name.front())) return false;
  return name.find('<') != std::string_view::npos || name.ends_with(')');
}

// "void f<int>(float*, long)" -> "f<int>". The parameters are what the last closing parenthesis
// closes, when nothing but qualifiers follows.
std::string_view without_signature(std::string_view name) {
  for (const std::string_view type : {"void ", "static void "})
    if (name.starts_with(type)) name.remove_prefix(type.size());
  const std::size_t close = name.rfind(')');
  if (close == std::string_view::npos) return name;
  const std::string_view behind = name.substr(close + 1);
  if (!behind.empty() && !behind.starts_with(" const") && !behind.starts_with(" [clone"))
    return name;
  int depth = 0;
  for (std::size_t at = close + 1; at-- > 0;) {
    if (name[at] == ')') ++depth;
    if (name[at] == '(' && --depth == 0) return at == 0 ? name : name.substr(0, at);
  }
  return name;
}

// "at::native::(anonymous namespace)::fill<at::Half>" -> "fill<Half>"
std::string without_namespaces(std::string_view name) {
  std::string out;
  for (std::size_t at = 0; at < name.size();) {
    if (name.substr(at).starts_with("::")) {
      if (out.ends_with(')') && out.rfind('(') != std::string::npos) out.erase(out.rfind('('));
      while (!out.empty() && is_word(out.back())) out.pop_back();
      at += 2;
    } else {
      out += name[at++];
    }
  }
  return out;
}

// Template arguments and parameters that lie deeper than `depth` brackets become "…".
std::string folded(std::string_view name, int depth) {
  std::string out;
  int inside = 0;
  for (std::size_t at = 0; at < name.size(); ++at) {
    const char c = name[at];
    const bool opens = c == '<' || c == '(' || c == '{';
    const bool closes = (c == '>' && (at == 0 || name[at - 1] != '-')) || c == ')' || c == '}';
    if (closes) inside = std::max(0, inside - 1);
    if (inside <= depth) out += c;
    if (opens && ++inside == depth + 1) out += kEllipsis;
  }
  return out;
}

std::string shortened(const std::string& name, std::size_t columns) {
  if (display_width(name) <= columns) return name;
  if (!is_cpp_name(name)) return shorten_middle(name, columns);
  const std::string_view bare = without_signature(name);
  if (display_width(bare) <= columns) return std::string{bare};
  const std::string local = without_namespaces(bare);
  constexpr int kDeepest = 4;
  for (int depth = kDeepest + 1; depth > 0; --depth) {
    std::string text = depth > kDeepest ? local : folded(local, depth);
    if (display_width(text) <= columns) return text;
  }
  // Without room for any argument, their beginning says more than an empty pair of brackets.
  return shorten(local, columns);
}

std::size_t common_prefix(const std::vector<std::string_view>& names) {
  std::size_t size = names.front().size();
  for (const std::string_view name : names) {
    const auto [a, b] = std::ranges::mismatch(names.front(), name);
    size = std::min(size, static_cast<std::size_t>(a - names.front().begin()));
  }
  const auto is_continuation = [&](std::size_t at) {
    return at < names.front().size() && (static_cast<unsigned char>(names.front()[at]) >> 6) == 2;
  };
  while (size > 0 && is_continuation(size)) --size;
  return size;
}

// The head of all and what of each comes after it: "nvjet_sm90…_128x64_h_bz".
void tell_apart(const std::vector<std::string_view>& names, std::size_t columns,
                std::map<std::string_view, std::string>& texts) {
  std::vector<std::string> local;  // these differ in all but overloads
  for (const std::string_view name : names)
    local.push_back(is_cpp_name(name) ? without_namespaces(without_signature(name))
                                      : std::string{name});
  const bool differ = std::set<std::string_view>(local.begin(), local.end()).size() == local.size();
  std::vector<std::string_view> whole{local.begin(), local.end()};
  if (!differ) whole = names;
  const std::size_t same = common_prefix(whole);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string start = shorten(whole[i].substr(0, same), columns / 3);
    const std::size_t left = columns - std::min(columns, display_width(start));
    const std::string_view mark = start.ends_with(kEllipsis) ? std::string_view{} : kEllipsis;
    texts[names[i]] = start + shorten(std::string{mark}.append(whole[i].substr(same)), left);
  }
}

}  // namespace

std::vector<std::string> short_names(std::span<const std::string> names, std::size_t columns) {
  std::map<std::string_view, std::string> texts;  // of each distinct name
  std::map<std::string, std::vector<std::string_view>> alike;
  for (const std::string& name : names) {
    const auto [at, is_new] = texts.try_emplace(name);
    if (!is_new) continue;
    at->second = shortened(name, columns);
    alike[at->second].emplace_back(name);
  }
  for (const auto& [text, same] : alike)
    if (same.size() > 1) tell_apart(same, columns, texts);
  // Names that differ in several places may still be alike.
  std::map<std::string, int> times;
  for (auto& [name, text] : texts)
    if (const int time = ++times[text]; time > 1) {
      const std::string number = fmt::format("#{}", time);
      text = shorten(text, columns - std::min(columns, number.size())) + shorten(number, columns);
    }
  std::vector<std::string> result;
  result.reserve(names.size());
  for (const std::string& name : names) result.push_back(texts[name]);
  return result;
}

}  // namespace tracelens
