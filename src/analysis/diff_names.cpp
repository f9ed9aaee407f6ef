#include "analysis/diff_names.hpp"

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

}  // namespace

std::string normalized_name(std::string_view name, Strip strip) {
  std::string out = without_run_details(name);
  if (strip == Strip::kFunction) out = without_function(std::move(out));
  if (out == "hipModuleLaunchKernel" || out == "cuLaunchKernel") return "__kernel_launch__";
  return out;
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
