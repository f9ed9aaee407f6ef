// pipe_table.hpp: a table as lines of plain Markdown, columns padded so that it reads well as text.
//   page += pipe_table(table, 10);       // its first ten rows
// For pages that other tools compare: floats have six significant digits, texts stand as they are.
// Documents for people come from the Markdown sink.
#pragma once

#include <cstddef>
#include <string>
#include <tracelens/table.hpp>

namespace tracelens {

// Every line ends in '\n'. Empty for a table without columns.
[[nodiscard]] std::string pipe_table(const Table& table, std::size_t max_rows);

}  // namespace tracelens
