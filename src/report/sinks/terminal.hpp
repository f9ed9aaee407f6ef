// terminal.hpp: a table as text that fits the terminal.
//   console.print(render_terminal(table, {.width = 120, .colour = true, .max_rows = 20}));
// Numbers are never cut. When the table is too wide, headers are wrapped first, then texts are
// shortened, then the last columns are left out; what was left out is said below the table.
#pragma once

#include <cstddef>
#include <string>
#include <tracelens/table.hpp>

namespace tracelens {

struct TerminalStyle {
  std::size_t width = 100;   // columns of the terminal; 0: as wide as it gets
  bool colour = false;       // bold, dim and coloured text by ANSI codes
  std::size_t max_rows = 0;  // 0: all
};

// Title, header, rows and notes, each line ended by "\n". UTF-8; safe whatever the cells hold.
[[nodiscard]] std::string render_terminal(const Table& table, const TerminalStyle& style);

}  // namespace tracelens
