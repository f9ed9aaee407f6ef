// cursor.hpp: where the next page of an answer begins, as a text that any server of this version takes.
//   const std::string next = cursor_text({"table", hash, stamp, 20});
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tracelens::mcp {

struct Cursor {
  std::string tool;
  std::uint32_t arguments = 0;  // hash of those that choose the rows
  std::uint64_t stamp = 0;      // of the files the rows came from
  std::uint64_t offset = 0;     // rows before
  bool operator==(const Cursor&) const = default;
};

[[nodiscard]] std::string cursor_text(const Cursor& cursor);
// Nothing when the text is none that cursor_text() gave.
[[nodiscard]] std::optional<Cursor> parse_cursor(std::string_view text);

}  // namespace tracelens::mcp
