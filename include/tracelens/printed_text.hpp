// printed_text.hpp: texts of a trace on their way to a terminal or a log. A name may hold anything:
// codes that move the cursor, line breaks that begin a command of a CI system, marks that turn the
// reading direction.
//   console << "slowest: " << single_line(name) << "\n";
#pragma once

#include <string>
#include <string_view>

namespace tracelens {

// The text on one line and safe to show: line breaks and tabs become spaces, whatever else does not
// print (a terminal's escape codes among it) becomes U+FFFD.
[[nodiscard]] std::string single_line(std::string_view text);

enum class ColourCodes : bool { kRemove, kKeep };  // such as ESC [ 1 m

// The same for a text of several lines, such as a drawn table: line breaks stay. What CI systems
// take for a command ("::error::" at the start of a line, "##[error]") is broken up.
[[nodiscard]] std::string printed_lines(std::string_view text, ColourCodes colours);

}  // namespace tracelens
