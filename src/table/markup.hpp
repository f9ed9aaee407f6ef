// markup.hpp: texts as they stand in XML, HTML and SVG, in elements and in quoted attributes, and in
// Markdown.
//   append_markup(page, "a<b> & \"c\"\nd");       // on one line, nothing of it is markup
// What XML forbids (control characters, U+FFFE, U+FFFF, broken UTF-8) becomes U+FFFD.
#pragma once

#include <string>
#include <string_view>

namespace tracelens {

void append_markup(std::string& out, std::string_view text);
// The same of a text that XML allows, with its line breaks.
void append_escaped(std::string& out, std::string_view text);
[[nodiscard]] std::string escaped(std::string_view text);
[[nodiscard]] std::string as_markup(std::string_view text);

// For GitHub's Markdown, inside a line or a cell of a table: no links or images, no HTML. What is
// markup at some places only, such as the underscores inside op names, is escaped only there, so
// that names stay readable.
void append_markdown(std::string& out, std::string_view text);
[[nodiscard]] std::string as_markdown(std::string_view text);

}  // namespace tracelens
