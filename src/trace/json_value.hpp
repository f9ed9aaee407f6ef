// json_value.hpp: JSON text to a Value, forgiving in the ways profilers are sloppy.
//   const auto dims = parse_json_value("[[8, 4], []]");   // a tuple of tuples, or nullopt
// Arrays become tuples. Accepts NaN, Infinity, inf, nan (as reals), raw control characters, broken
// UTF-8 (replaced by U+FFFD), trailing commas; the last of equal keys wins. Integers beyond 64 bits
// become reals. simdjson refuses all of these, and they occur in real traces. No recursion: depth
// is limited by kMaxDepth only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tracelens/value.hpp>

namespace tracelens {

inline constexpr int kMaxJsonDepth = 512;

// nullopt when the text is not one JSON value (and nothing but white space after it).
[[nodiscard]] std::optional<Value> parse_json_value(std::string_view text);

// The text between two quotes with its escapes resolved and broken UTF-8 replaced.
[[nodiscard]] std::string unescape_json(std::string_view raw);

// Whether unescape_json would give back exactly `raw`: no escape and sound UTF-8.
[[nodiscard]] bool is_plain_json_text(std::string_view raw);

// An unambiguous text of a value: equal texts for equal values and for no others. Not JSON.
// Iterative, as values may be deep.
[[nodiscard]] std::string canonical_text(const Value& value);

}  // namespace tracelens
