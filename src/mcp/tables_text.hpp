// tables_text.hpp: docs/tables.md, which has every table and column; made by CMake, see CMakeLists.txt.
#pragma once

#include <string_view>

namespace tracelens::mcp {

[[nodiscard]] std::string_view tables_text();

}  // namespace tracelens::mcp
