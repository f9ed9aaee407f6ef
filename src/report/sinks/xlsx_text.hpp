// xlsx_text.hpp: texts as a workbook can hold them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tracelens {

inline constexpr std::size_t kMaxCellText = 32'767;  // Excel's limit, in UTF-16 units

// Without what XML 1.0 cannot hold, at most `limit` UTF-16 units long.
[[nodiscard]] std::string sheet_text(std::string_view text, std::size_t limit);

// The same for a cell: a text that is cut says so at its end.
[[nodiscard]] std::string cell_text(std::string_view text);

}  // namespace tracelens
