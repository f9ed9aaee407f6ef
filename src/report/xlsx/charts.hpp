// charts.hpp: the two kinds of chart a workbook has, and where they stand on their sheet.
//   drawing.charts.push_back({.xml = doughnut_chart("Where the time went", series, colours), ...});
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/xlsx/sheet.hpp"

namespace tracelens::xlsx {

// Names and numbers that a chart shows, and the cells they come from.
struct Series {
  std::string sheet;  // its name
  std::size_t first_row = 0, name_column = 0, value_column = 0;
  std::vector<std::string> names;
  std::vector<double> values;
};

// Parts of a whole with their percentages, but those of small parts, which would lie on each other.
[[nodiscard]] std::string doughnut_chart(std::string_view title, const Series& series,
                                         std::span<const std::uint32_t> colours);
// Bars from top to bottom with their numbers.
[[nodiscard]] std::string bar_chart(std::string_view title, const Series& series,
                                    std::uint32_t colour);

struct Chart {
  std::string xml;
  std::size_t row = 0, left = 0, width = 0, height = 0;  // pixels, from the top left of the row
};
// The part that says where the charts of a sheet stand.
[[nodiscard]] std::string drawing_xml(std::span<const Chart> charts,
                                      std::span<const Column> columns);

}  // namespace tracelens::xlsx
