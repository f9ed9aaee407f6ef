// value_member.hpp: a look into values that come from a file, which may lack anything.
//   member(member(agent, "id"), "handle").as_int()       // 0 when there is no such number
#pragma once

#include <string_view>
#include <tracelens/value.hpp>

namespace tracelens {

// The member of a dict; null when there is none, or when it is no dict.
[[nodiscard]] inline const Value& member(const Value& dict, std::string_view key) {
  static const Value kNothing;
  const Value* const value = dict.find(key);
  return value == nullptr ? kNothing : *value;
}

}  // namespace tracelens
