// json.hpp: JSON text to a Value and back.
//   const std::optional<Value> dims = parse_json_value("[[8, 4], []]");   // a tuple of tuples
//   const std::string text = json_text(*dims);                            // "[[8, 4], []]"
// Implemented in src/trace (reading) and src/table (printing).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tracelens/value.hpp>

namespace tracelens {

inline constexpr int kMaxJsonDepth = 512;

// Forgiving in the ways profilers are sloppy: accepts NaN, Infinity, inf, nan (as reals), raw
// control characters, broken UTF-8 (replaced by U+FFFD), trailing commas; the last of equal keys
// wins. Arrays become tuples; integers beyond 64 bits become reals. Nothing when the text is not
// one JSON value (and nothing but white space after it), or nested more than kMaxJsonDepth deep.
[[nodiscard]] std::optional<Value> parse_json_value(std::string_view text);

// RFC 8259. NaN and infinities are null; tuples are arrays. Broken UTF-8 comes out repaired. Never
// fails, however deep the value.
[[nodiscard]] std::string json_text(const Value& value);
void append_json(std::string& out, const Value& value);
void append_json_text(std::string& out, std::string_view text);  // a string in quotes

}  // namespace tracelens
