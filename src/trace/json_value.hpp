// json_value.hpp: the pieces of JSON text that parse_json_value() is made of, for the readers.
//   unescape_json(R"(a\tb)")                    // with a real tab
// Why by hand: simdjson refuses what json.hpp accepts, and it occurs in real traces. No recursion:
// depth is limited by kMaxJsonDepth only.
#pragma once

#include <string>
#include <string_view>
#include <tracelens/json.hpp>
#include <tracelens/value.hpp>

namespace tracelens {

// The text between two quotes with its escapes resolved and broken UTF-8 replaced.
[[nodiscard]] std::string unescape_json(std::string_view raw);

// Whether unescape_json would give back exactly `raw`: no escape and sound UTF-8.
[[nodiscard]] bool is_plain_json_text(std::string_view raw);

// An unambiguous text of a value: equal texts for equal values and for no others. Not JSON.
// Iterative, as values may be deep.
[[nodiscard]] std::string canonical_text(const Value& value);
void append_canonical_text(std::string& text, const Value& value);

}  // namespace tracelens
