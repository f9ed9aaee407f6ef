// names.hpp: names, texts and files as SQLite is told of them, whatever is in them.
#pragma once

#include <string>
#include <string_view>

namespace tracelens::db {

[[nodiscard]] std::string quoted_name(std::string_view name);  // "a ""b"""
[[nodiscard]] std::string quoted_text(std::string_view text);  // 'it''s'

// A file for SQLITE_OPEN_URI and ATTACH: "file:///tmp/a%20b.db?mode=ro".
[[nodiscard]] std::string address_of_file(const std::string& path, std::string_view parameters);

}  // namespace tracelens::db
