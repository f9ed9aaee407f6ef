#include "analysis/diff/names.hpp"

#include <algorithm>

namespace tracelens {
namespace {

constexpr std::string_view kSpaces = " \t\n\r\v\f";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// The end of "(digits)" at `at`; `at` itself when there is none.
std::size_t past_number(std::string_view text, std::size_t at) {
  if (at >= text.size() || text[at] != '(') return at;
  std::size_t end = at + 1;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end > at + 1 && end < text.size() && text[end] == ')' ? end + 1 : at;
}

// 0x7f12 -> 0xXXXX, ".py(12):" -> ".py:"
std::string without_run_details(std::string_view name) {
  std::string out;
  out.reserve(name.size());
  for (std::size_t at = 0; at < name.size();) {
    if (name.substr(at).starts_with("0x") && at + 2 < name.size() && is_hex(name[at + 2])) {
      at += 2;
      while (at < name.size() && is_hex(name[at])) ++at;
      out += "0xXXXX";
      continue;
    }
    if (const std::size_t end = past_number(name, at);
        end > at && out.ends_with(".py") && end < name.size() && name[end] == ':') {
      at = end;
      continue;
    }
    out.push_back(name[at++]);
  }
  return out;
}

// "dir/layer.py: forward" -> "layer.py"
std::string without_function(std::string name) {
  const auto word = name.find_last_of(kSpaces);
  if (word != name.npos && word + 1 < name.size()) {
    const auto before = name.find_last_not_of(kSpaces, word);
    if (before != name.npos && name[before] == ':') name.resize(before);
  }
  const auto slash = name.rfind('/');
  if (slash != name.npos && name.ends_with(".py") && name.size() - slash > 4)
    name.erase(0, slash + 1);
  return name;
}

// "jit(f)/mul, model.py:31" -> "jit(f)/mul"
std::string_view without_source(std::string_view origin) {
  const auto colon = origin.rfind(':');
  if (colon == origin.npos || colon + 1 == origin.size() ||
      !std::ranges::all_of(origin.substr(colon + 1), is_digit))
    return origin;
  const auto comma = origin.rfind(", ");
  return comma == origin.npos ? std::string_view{} : origin.substr(0, comma);
}

// "dot.1.0" -> "dot"
std::string_view without_instance(std::string_view name) {
  while (true) {
    const auto dot = name.rfind('.');
    if (dot == name.npos || dot == 0 || dot + 1 == name.size() ||
        !std::ranges::all_of(name.substr(dot + 1), is_digit))
      return name;
    name = name.substr(0, dot);
  }
}

std::string without_all(std::string text, std::string_view part) {
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at))
    text.erase(at, part.size());
  return text;
}

}  // namespace

std::string normalized_name(std::string_view name, Strip strip) {
  std::string out = without_run_details(name);
  if (strip == Strip::kFunction) out = without_function(std::move(out));
  if (out == "hipModuleLaunchKernel" || out == "cuLaunchKernel") return "__kernel_launch__";
  return out;
}

std::string hlo_name(std::string_view label, Strip strip) {
  const auto bracket = label.find(" (");
  if (bracket == label.npos || !label.ends_with(')')) {
    if (label.ends_with(".kd")) label.remove_suffix(3);
    return std::string{label};
  }
  std::string_view name = label.substr(0, bracket);
  std::string scope{without_source(label.substr(bracket + 2, label.size() - bracket - 3))};
  if (strip == Strip::kFunction) {
    name = without_instance(name);
    scope = without_all(std::move(scope), "jit(main)/");
  }
  std::string out{name};
  if (!scope.empty()) out.append(" (").append(scope).append(")");
  return out;
}

std::string comparable_name(const Trace& trace, std::string_view name, Strip strip) {
  return trace.source().recorder == Recorder::kJax ? hlo_name(name, strip)
                                                   : normalized_name(name, strip);
}

std::string without_line_numbers(std::string_view name) {
  std::string out;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t end = past_number(name, at);
    if (end == at) out.push_back(name[at++]);
    at = end > at ? end : at;
  }
  return out;
}

}  // namespace tracelens
