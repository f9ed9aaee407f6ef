#include "readers/chrome/json_merge.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "readers/chrome/json_scan.hpp"

namespace tracelens::json {
namespace {

// The members of a JSON object as we write it: no white space between tokens.
std::vector<std::pair<std::string_view, std::string_view>> members_of(std::string_view object) {
  std::vector<std::pair<std::string_view, std::string_view>> members;
  const char* p = object.data() + 1;
  const char* const end = object.data() + object.size();
  while (p < end && *p == '"') {
    const char* const key_end = find_quote(p + 1, end);
    const char* const after = key_end == nullptr ? nullptr : skip_value(key_end + 2, end);
    if (after == nullptr) break;
    members.emplace_back(std::string_view{p, static_cast<std::size_t>(key_end + 1 - p)},
                         std::string_view{p, static_cast<std::size_t>(after - p)});
    p = after + 1;
  }
  return members;
}

}  // namespace

std::string merged_objects(std::string_view older, std::string_view newer) {
  // Padded copies: skip_value() looks past the end.
  const std::string first = std::string{older}.append(kPadding, '\0');
  const std::string second = std::string{newer}.append(kPadding, '\0');
  auto members = members_of(std::string_view{second}.substr(0, newer.size()));
  if (!older.empty())
    for (const auto& member : members_of(std::string_view{first}.substr(0, older.size())))
      if (std::ranges::find(members, member.first, [](const auto& m) { return m.first; }) ==
          members.end())
        members.push_back(member);
  std::ranges::sort(members, {}, [](const auto& member) { return member.first; });
  std::string text;
  for (const auto& [key, member] : members) {
    text += text.empty() ? '{' : ',';
    text += member;
  }
  return text + '}';
}

}  // namespace tracelens::json
