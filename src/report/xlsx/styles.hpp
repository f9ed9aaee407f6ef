// styles.hpp: how cells look. A cell names its style by a number.
//   Styles styles;
//   const unsigned header = styles.number_of({.is_bold = true});
//   cells.text(0, "name", header);
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tracelens::xlsx {

struct Style {
  enum class Lines : std::uint8_t { kNone, kBelow, kAround };
  enum class Place : std::uint8_t { kUsual, kRight, kIndented, kTopCentre };
  bool is_bold = false;
  bool is_code = false;  // letters of equal width
  int points = 11;
  std::uint32_t colour = 0;
  Lines lines = Lines::kNone;
  Place place = Place::kUsual;
  std::string_view number_format = {};  // Excel's, and not copied: a literal. Empty: as it comes

  friend bool operator==(const Style&, const Style&) = default;
};

inline constexpr unsigned kPlain = 0;  // a cell without a style

class Styles {
 public:
  unsigned number_of(const Style& style);
  [[nodiscard]] std::string xml() const;  // the part xl/styles.xml

 private:
  std::vector<Style> styles_{Style{}};
};

}  // namespace tracelens::xlsx
