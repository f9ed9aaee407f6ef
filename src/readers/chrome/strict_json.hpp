// strict_json.hpp: whether text that is copied from a trace is JSON for everybody.
//   is_strict_json(R"({"ts": 1.5})")     // true
//   is_strict_json(R"({"ts": .5})")      // false, though our readers understand it
#pragma once

#include <string_view>

namespace tracelens::json {

// RFC 8259: one value, with nothing but white space around it, in UTF-8. False as well where
// parsers differ: half of a surrogate pair, or nested more than kMaxJsonDepth deep.
[[nodiscard]] bool is_strict_json(std::string_view text);
// The same of values with commas between them, one at least: a list without its brackets.
[[nodiscard]] bool is_strict_list(std::string_view text);
// Whether a text can become strict JSON by going on. Does not look at the last few bytes closely.
[[nodiscard]] bool begins_strict_json(std::string_view text);

}  // namespace tracelens::json
