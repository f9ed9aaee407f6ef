// xml_text.hpp: texts as they stand in the parts of a workbook.
//   append_cell_text(out, "a<b");      // <t>a&lt;b</t>
// Takes what sheet_text() (report/sinks) lets through: valid UTF-8 without control characters. Texts of
// other parts are escaped() (table/markup.hpp).
#pragma once

#include <string>
#include <string_view>

namespace tracelens::xlsx {

inline constexpr std::string_view kXmlHead =
    "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n";

// The text of a cell as the elements in <is>. Excel reads _x0041_ as 'A': such a text is cut in the middle, into runs,
// since the escape for it is not undone by everybody who reads workbooks.
void append_cell_text(std::string& out, std::string_view text);

// "A", "Z", "AA" for 0, 25, 26.
[[nodiscard]] std::string column_letters(std::size_t column);

}  // namespace tracelens::xlsx
