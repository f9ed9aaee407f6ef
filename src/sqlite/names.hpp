// names.hpp: names and texts as they stand in a statement, whatever is in them.
#pragma once

#include <string>
#include <string_view>

namespace tracelens::db {

[[nodiscard]] std::string quoted_name(std::string_view name);  // "a ""b"""
[[nodiscard]] std::string quoted_text(std::string_view text);  // 'it''s'

}  // namespace tracelens::db
