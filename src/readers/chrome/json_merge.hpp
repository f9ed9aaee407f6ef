// json_merge.hpp: two JSON objects as one.
//   merged_objects(R"({"a":1,"c":2})", R"({"b":3,"c":4})")     // {"a":1,"b":3,"c":4}
#pragma once

#include <string>
#include <string_view>

namespace tracelens::json {

// The members of both, by name; those of `newer` win. Objects as we write them, without white space
// between tokens; `older` may be empty.
[[nodiscard]] std::string merged_objects(std::string_view older, std::string_view newer);

}  // namespace tracelens::json
