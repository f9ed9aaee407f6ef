// json.hpp: JSON objects put together and looked into.
//   const Value content = object({{"type", "text"}, {"text", sentence}});
//   const std::string line = compact_json(content);          // {"type":"text","text":"..."}
#pragma once

#include <string>
#include <string_view>
#include <tracelens/value.hpp>
#include <utility>
#include <vector>

namespace tracelens::mcp {

using Members = std::vector<std::pair<std::string, Value>>;

[[nodiscard]] Value object(Members members);
[[nodiscard]] Value array(std::vector<Value> items);
[[nodiscard]] Value array(const std::vector<std::string>& texts);
[[nodiscard]] inline Value text_value(std::string_view text) { return Value{std::string{text}}; }
[[nodiscard]] inline Value count_value(std::size_t count) {
  return Value{static_cast<std::int64_t>(count)};
}

[[nodiscard]] inline bool is_object(const Value& value) {
  return value.kind() == Value::Kind::kDict;
}
[[nodiscard]] inline bool is_bool(const Value& value) { return value.kind() == Value::Kind::kBool; }

// The member of a member ..., or null where one of them is missing.
[[nodiscard]] const Value& member(const Value& value, std::string_view key);
// The object with one member more, or another value of it.
[[nodiscard]] Value with(const Value& object, std::string key, Value value);

// One line without spaces between its parts: a protocol counts every byte.
[[nodiscard]] std::string compact_json(const Value& value);

}  // namespace tracelens::mcp
