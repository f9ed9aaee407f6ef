// hints.hpp: what a person needs to mend a statement, besides near_names.hpp.
#pragma once

#include <string>
#include <string_view>

namespace tracelens::query {

// The line of the statement around a byte, shortened where it is long, and a caret below it.
[[nodiscard]] std::string marked_line(std::string_view statement, int offset);

}  // namespace tracelens::query
