#include "report/xlsx/styles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "report/xlsx/xml_text.hpp"
#include "table/markup.hpp"

namespace tracelens::xlsx {
namespace {

constexpr std::size_t kFirstOwnFormat = 164;  // those below are Excel's

// Elements of one kind, each written once; styles refer to them by their place.
class Elements {
 public:
  std::size_t place_of(std::string xml) {
    const auto found = std::ranges::find(list_, xml);
    const auto place = static_cast<std::size_t>(found - list_.begin());
    if (found == list_.end()) list_.push_back(std::move(xml));
    return place;
  }
  [[nodiscard]] const std::vector<std::string>& list() const { return list_; }
  [[nodiscard]] std::string under(std::string_view name) const {
    if (list_.empty()) return {};
    return fmt::format("<{0} count=\"{1}\">{2}</{0}>", name, list_.size(), fmt::join(list_, ""));
  }

 private:
  std::vector<std::string> list_;
};

std::string font_of(const Style& style) {
  return fmt::format(
      "<font>{}<sz val=\"{}\"/><color rgb=\"FF{:06X}\"/><name val=\"{}\"/><family val=\"{}\"/></font>",
      style.is_bold ? "<b/>" : "", style.points, style.colour,
      style.is_code ? "Courier New" : "Calibri", style.is_code ? 3 : 2);
}

// Number formats stand with the numbers that styles know them by.
std::string formats_xml(const Elements& codes) {
  Elements formats;
  for (std::size_t i = 0; i < codes.list().size(); ++i)
    formats.place_of(fmt::format("<numFmt numFmtId=\"{}\" formatCode=\"{}\"/>", kFirstOwnFormat + i,
                                 codes.list()[i]));
  return formats.under("numFmts");
}

std::string border_of(Style::Lines lines) {
  constexpr const char* kSides[] = {"left", "right", "top", "bottom"};
  std::string xml = "<border>";
  for (const char* side : kSides) {
    const bool has_line = lines == Style::Lines::kAround ||
                          (lines == Style::Lines::kBelow && side == std::string_view{"bottom"});
    xml += has_line ? fmt::format("<{0} style=\"thin\"><color auto=\"1\"/></{0}>", side)
                    : fmt::format("<{}/>", side);
  }
  return xml + "<diagonal/></border>";
}

const char* alignment_of(Style::Place place) {
  switch (place) {
    case Style::Place::kRight:
      return "<alignment horizontal=\"right\"/>";
    case Style::Place::kIndented:
      return "<alignment horizontal=\"left\" indent=\"1\"/>";
    case Style::Place::kTopCentre:
      return "<alignment horizontal=\"center\" vertical=\"top\"/>";
    case Style::Place::kUsual:
      break;
  }
  return "";
}

}  // namespace

unsigned Styles::number_of(const Style& style) {
  const auto found = std::ranges::find(styles_, style);
  const auto number = static_cast<unsigned>(found - styles_.begin());
  if (found == styles_.end()) styles_.push_back(style);
  return number;
}

std::string Styles::xml() const {
  Elements codes, fonts, borders;
  std::string cells;
  for (const Style& style : styles_) {
    std::size_t format = 0;
    if (!style.number_format.empty())
      format = kFirstOwnFormat + codes.place_of(escaped(style.number_format));
    fmt::format_to(std::back_inserter(cells),
                   "<xf numFmtId=\"{}\" fontId=\"{}\" fillId=\"0\" borderId=\"{}\" xfId=\"0\"{}",
                   format, fonts.place_of(font_of(style)), borders.place_of(border_of(style.lines)),
                   format != 0 ? " applyNumberFormat=\"1\"" : "");
    cells += " applyFont=\"1\" applyBorder=\"1\"";
    if (const std::string_view alignment = alignment_of(style.place); !alignment.empty())
      fmt::format_to(std::back_inserter(cells), " applyAlignment=\"1\">{}</xf>", alignment);
    else
      cells += "/>";
  }
  return fmt::format(
      "{}<styleSheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\">{}{}"
      "<fills count=\"2\"><fill><patternFill patternType=\"none\"/></fill>"
      "<fill><patternFill patternType=\"gray125\"/></fill></fills>{}"
      "<cellStyleXfs count=\"1\"><xf numFmtId=\"0\" fontId=\"0\" fillId=\"0\" borderId=\"0\"/>"
      "</cellStyleXfs><cellXfs count=\"{}\">{}</cellXfs><cellStyles count=\"1\">"
      "<cellStyle name=\"Normal\" xfId=\"0\" builtinId=\"0\"/></cellStyles></styleSheet>",
      kXmlHead, formats_xml(codes), fonts.under("fonts"), borders.under("borders"), styles_.size(),
      cells);
}

}  // namespace tracelens::xlsx
