// formula_text.hpp: text that a spreadsheet would run. In a CSV file nothing tells text from formula
// but the first character: =cmd|'/c calc'!A1 as the name of an op becomes a formula.
//   append_csv_text(line, guarded_text(name));        // '=cmd|...
// The spreadsheet shows the quote and runs nothing; unguarded_text() takes it away again.
#pragma once

#include <string>
#include <string_view>

namespace tracelens {

// With a ' in front when it begins like a formula; numbers are left as they are.
[[nodiscard]] std::string guarded_text(std::string_view text);
[[nodiscard]] std::string_view unguarded_text(std::string_view text);

}  // namespace tracelens
