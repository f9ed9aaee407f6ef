#include "mcp/json.hpp"

#include <tracelens/json.hpp>

namespace tracelens::mcp {

Value object(Members members) {
  std::vector<std::string> keys;
  std::vector<Value> items;
  for (auto& [key, value] : members) {
    keys.push_back(std::move(key));
    items.push_back(std::move(value));
  }
  return Value::dict(std::move(keys), std::move(items));
}

Value array(std::vector<Value> items) { return Value::list(std::move(items)); }

Value array(const std::vector<std::string>& texts) {
  return Value::list({texts.begin(), texts.end()});
}

const Value& member(const Value& value, std::string_view key) {
  static const Value kNone;
  const Value* const found = value.find(key);
  return found == nullptr ? kNone : *found;
}

Value with(const Value& object, std::string key, Value value) {
  std::vector<std::string> keys = object.keys();
  std::vector<Value> items = object.items();
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (keys[i] == key) {
      items[i] = std::move(value);
      return Value::dict(std::move(keys), std::move(items));
    }
  keys.push_back(std::move(key));
  items.push_back(std::move(value));
  return Value::dict(std::move(keys), std::move(items));
}

std::string compact_json(const Value& value) {
  const std::string spaced = json_text(value);
  std::string text;
  text.reserve(spaced.size());
  bool in_string = false;
  for (std::size_t i = 0; i < spaced.size(); ++i) {
    const char c = spaced[i];
    if (in_string && c == '\\') {
      text += c;
      text += spaced[++i];
      continue;
    }
    if (c == '"') in_string = !in_string;
    if (c != ' ' || in_string) text += c;
  }
  return text;
}

}  // namespace tracelens::mcp
