#include "readers/chrome/holes.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string>
#include <vector>

#include "readers/chrome/event_texts.hpp"
#include "readers/chrome/json_scan.hpp"
#include "readers/chrome/strict_json.hpp"

namespace tracelens {
namespace {

constexpr auto kNowhere = std::string_view::npos;

bool is_space(char c) { return static_cast<unsigned char>(c) <= ' '; }

std::size_t skip_space(std::string_view text, std::size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

// Objects in the arguments of an event have no phase.
bool is_event(std::string_view object) {
  std::vector<RawMember> members;
  return split_object(object, members) &&
         std::ranges::find(members, "ph", &RawMember::key) != members.end();
}

}  // namespace

const char* find_nul(const char* begin, const char* end) {
  return static_cast<const char*>(std::memchr(begin, '\0', static_cast<std::size_t>(end - begin)));
}

AfterHole find_event_after_hole(std::string_view text, std::size_t from) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  // An object follows a brace and a comma, or NUL bytes.
  for (std::size_t at = from; at < text.size();) {
    while (at < text.size() && (is_space(text[at]) || text[at] == ',')) ++at;
    if (at < text.size() && text[at] == '{') {
      const std::size_t quote = std::min(text.find_first_not_of(" \t\r\n", at + 1), text.size());
      if (quote + 1 >= text.size()) break;
      // In a string, a quote would have a backslash before it.
      if (text[quote] == '"' && std::isalpha(static_cast<unsigned char>(text[quote + 1])) != 0) {
        const char* const after = json::skip_container(begin + at, end);
        if (find_nul(begin + at, after == nullptr ? end : after) != nullptr) return {at, true};
        if (after == nullptr) break;
        if (is_event(text.substr(at, static_cast<std::size_t>(after - begin) - at)))
          return {at, true};
        at = static_cast<std::size_t>(after - begin);  // what is in it is no event, either
        continue;
      }
    }
    at = text.find_first_of(std::string_view{"}\0", 2}, at);
    if (at != kNowhere) ++at;
  }
  const std::size_t nul = text.rfind('\0');
  return {nul == kNowhere ? from : std::max(from, nul + 1), false};
}

std::size_t find_list_end_after_hole(std::string_view text) {
  constexpr int kAttempts = 16;  // lists of objects in the arguments of one event
  int attempts = 0;
  std::size_t last = 0;  // behind the last byte that is no space
  for (std::size_t at = skip_space(text, 0); at < text.size(); at = skip_space(text, at + 1)) {
    if (text[at] == ']' && (last == 0 || text[last - 1] == '}') && attempts++ < kAttempts) {
      const std::string_view rest = text.substr(at + 1);
      if (skip_space(rest, 0) == rest.size() ||
          json::is_strict_json("{\"a\":[]" + std::string{rest}))
        return at + 1;
    }
    last = at + 1;
  }
  return kNowhere;
}

}  // namespace tracelens
