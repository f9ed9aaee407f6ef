// rocprof_members.hpp: a look into the tables of a rocprofv3 file, which may lack anything.
//   member(member(agent, "id"), "handle").is_int()
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
