#include "readers/chrome/repaired_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tracelens/json.hpp>

#include "readers/chrome/json_scan.hpp"
#include "readers/chrome/padded_text.hpp"
#include "readers/chrome/stray_controls.hpp"
#include "readers/chrome/strict_json.hpp"

namespace tracelens {
namespace {

std::string_view strict_text(std::string_view json, std::deque<std::string>& texts) {
  if (json::is_strict_json(json)) return json;
  std::string& text = texts.emplace_back(with_escaped_controls(json));
  if (!json::is_strict_json(text)) text = json_text(parse_json_value(text).value_or(Value{}));
  return text;
}

std::string object_text(const std::vector<RawMember>& members) {
  std::string text;
  for (const auto& [key, value] : members)
    text.append(text.empty() ? "{\"" : ", \"").append(key).append("\": ").append(value);
  return text.empty() ? "{}" : text + "}";
}

// False when it is no object at all. Arguments are repaired one by one, too.
bool append_repaired(std::string_view event, std::string& out) {
  std::vector<RawMember> members, args;
  std::deque<std::string> texts;
  if (!split_object(event, members)) return false;
  for (auto& [key, value] : members)
    if (key == "args" && split_object(value, args)) {
      repair_members(args, texts);
      value = texts.emplace_back(object_text(args));
    }
  repair_members(members, texts);
  out += object_text(members);
  return true;
}

}  // namespace

std::string JsonRepairs::sentence() const {
  if (repaired + left_out == 0) return {};
  return fmt::format(
      "{} events are no valid JSON: {} are written with what is wrong in them (NaN, 01, broken "
      "escapes or UTF-8) put right or null, {} are left out",
      repaired + left_out, repaired, left_out);
}

void repair_members(std::vector<RawMember>& members, std::deque<std::string>& texts) {
  for (auto& [key, value] : members) {
    const std::string quoted = fmt::format("\"{}\"", key);
    if (const std::string_view text = strict_text(quoted, texts); text.data() != quoted.data())
      key = text.starts_with('"') ? text.substr(1, text.size() - 2) : std::string_view{};
    value = strict_text(value, texts);
  }
}

std::string repaired_list(std::string_view elements, JsonRepairs& repairs) {
  PaddedText padded;
  padded.append(elements);
  std::string out;
  const char* p = padded.view().data();
  const char* const end = p + padded.size();
  for (;;) {
    do p = json::skip_space(p, end);
    while (*p == ',' && p++ < end);
    if (p >= end) return out;
    const char* const after = json::skip_value(p, end);
    if (after == nullptr) {  // no element, and so nothing behind it
      ++repairs.left_out;
      return out;
    }
    const std::string_view element{p, static_cast<std::size_t>(after - p)};
    p = after;
    const std::size_t before = out.size();
    if (!out.empty()) out += ",\n";
    if (json::is_strict_json(element) && element.starts_with('{')) {
      out += element;
    } else if (append_repaired(element, out)) {
      ++repairs.repaired;
    } else {
      ++repairs.left_out;
      out.resize(before);
    }
  }
}

}  // namespace tracelens
