// human_format.hpp: cells as people read them, in terminals and Markdown.
//   const HumanFormat format{column};       // looks at the whole column once
//   format(row);                            // "1,234.5", "63.71", "yes", "" for a missing cell
// Every number rule for people is here. Programs get cell_text.hpp.
//   percent          2 decimals
//   time (ns to s)   1 to 3 decimals, the same for the whole column, so that points line up
//   other reals      4 significant digits, "1.235e+15" when very large or small
//   integers         whole, with thousands separators; columns of unit "id" without them
// Texts and nested values stand on one line, free of control characters; they are not shortened.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <tracelens/table.hpp>

namespace tracelens {

class HumanFormat {
 public:
  // The column must outlive the format.
  explicit HumanFormat(const Table::Column& column);

  [[nodiscard]] std::string operator()(std::size_t row) const;

 private:
  const Table::Column* column_;
  int decimals_ = -1;  // of every cell; -1: 4 significant digits in each
};

// Numbers stand to the right of their column, everything else to the left.
[[nodiscard]] bool is_numeric(const ColumnSpec& spec);

// The unit to show beside the column's name; empty when there is none or the name tells it already.
[[nodiscard]] std::string_view shown_unit(const ColumnSpec& spec);

// 4 significant digits: 12,346  1.235  0.001235  1.235e+15
[[nodiscard]] std::string four_digits(double value);
// 1234567 -> "1,234,567"; any decimal number, with sign and fraction.
[[nodiscard]] std::string with_separators(std::string number);

}  // namespace tracelens
