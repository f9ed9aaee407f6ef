#include "report/xlsx/sheet.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "report/xlsx/xml_text.hpp"

namespace tracelens::xlsx {
namespace {

constexpr double kDigitPixels = 7, kCellPadding = 5;  // of Calibri 11
constexpr const char* kBarColour = "FF9DC3E6";
constexpr std::string_view kX14 =
    "xmlns:x14=\"http://schemas.microsoft.com/office/spreadsheetml/2009/9/main\"";

// Excel keeps widths with the padding of a cell, in units of 1/256 character.
double stored_width(double characters) {
  return std::floor((characters * kDigitPixels + kCellPadding) / kDigitPixels * 256) / 256;
}

std::string area_text(const Area& area, std::string_view mark) {
  const auto corner = [&](std::size_t row, std::size_t column) {
    return fmt::format("{0}{1}{0}{2}", mark, column_letters(column), row + 1);
  };
  const std::string first = corner(area.first_row, area.first_column),
                    last = corner(area.last_row, area.last_column);
  return first == last ? first : first + ":" + last;
}

std::string pane_of(const SheetHead& head) {
  const std::size_t rows = head.frozen_rows, columns = head.frozen_columns;
  if (rows == 0 && columns == 0) return {};
  const bool both = rows > 0 && columns > 0;
  const char* const scrolled = both ? "bottomRight" : rows > 0 ? "bottomLeft" : "topRight";
  std::string xml = "<pane";
  if (columns > 0) xml += fmt::format(" xSplit=\"{}\"", columns);
  if (rows > 0) xml += fmt::format(" ySplit=\"{}\"", rows);
  xml += fmt::format(" topLeftCell=\"{}{}\" activePane=\"{}\" state=\"frozen\"/>",
                     column_letters(columns), rows + 1, scrolled);
  if (both) xml += "<selection pane=\"topRight\"/><selection pane=\"bottomLeft\"/>";
  return xml + fmt::format("<selection pane=\"{}\"/>", scrolled);
}

std::string columns_xml(const std::vector<Column>& columns) {
  if (columns.empty()) return {};
  std::string xml = "<cols>";
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Column& column = columns[i];
    fmt::format_to(
        std::back_inserter(xml),
        FMT_COMPILE("<col min=\"{0}\" max=\"{0}\" width=\"{1}\"{2} customWidth=\"1\"{3}{4}/>"),
        i + 1, stored_width(column.width), column.is_hidden ? " hidden=\"1\"" : "",
        column.is_folded ? " outlineLevel=\"1\"" : "", column.has_button ? " collapsed=\"1\"" : "");
  }
  return xml + "</cols>";
}

// Names the same bars in the two places that describe them: Excel 2007's, and what came later.
std::string bars_id(const SheetTail& tail, std::size_t index) {
  return fmt::format("{{7C1E2A55-0D3B-4B6F-{:04X}-{:012X}}}", tail.number, index + 1);
}

std::string plain_bars(const SheetTail& tail, std::size_t index) {
  const Bars& bars = tail.bars[index];
  return fmt::format(
      "<conditionalFormatting sqref=\"{}\"><cfRule type=\"dataBar\" priority=\"{}\"><dataBar>"
      "<cfvo type=\"num\" val=\"0\"/>{}<color rgb=\"{}\"/></dataBar><extLst><ext {} "
      "uri=\"{{B025F937-C7B1-47D3-B67F-A62EFF666E3E}}\"><x14:id>{}</x14:id></ext></extLst></cfRule>"
      "</conditionalFormatting>",
      area_name(bars.area), index + 1,
      bars.up_to_hundred ? "<cfvo type=\"num\" val=\"100\"/>" : "<cfvo type=\"max\"/>", kBarColour,
      kX14, bars_id(tail, index));
}

// Of one colour instead of fading out.
std::string solid_bars(const SheetTail& tail, std::size_t index) {
  const Bars& bars = tail.bars[index];
  return fmt::format(
      "<x14:conditionalFormatting xmlns:xm=\"http://schemas.microsoft.com/office/excel/2006/main\">"
      "<x14:cfRule type=\"dataBar\" id=\"{}\"><x14:dataBar minLength=\"0\" maxLength=\"100\" "
      "border=\"1\" gradient=\"0\" negativeBarBorderColorSameAsPositive=\"0\">"
      "<x14:cfvo type=\"num\"><xm:f>0</xm:f></x14:cfvo>{}<x14:borderColor rgb=\"{}\"/>"
      "<x14:negativeFillColor rgb=\"FFFF0000\"/><x14:negativeBorderColor rgb=\"FFFF0000\"/>"
      "<x14:axisColor rgb=\"FF000000\"/></x14:dataBar></x14:cfRule><xm:sqref>{}</xm:sqref>"
      "</x14:conditionalFormatting>",
      bars_id(tail, index),
      bars.up_to_hundred ? "<x14:cfvo type=\"num\"><xm:f>100</xm:f></x14:cfvo>"
                         : "<x14:cfvo type=\"autoMax\"/>",
      kBarColour, area_name(bars.area));
}

}  // namespace

std::string area_name(const Area& area) { return area_text(area, ""); }
std::string absolute_area_name(const Area& area) { return area_text(area, "$"); }

std::size_t pixels_of(const Column& column) {
  if (column.is_hidden) return 0;
  return static_cast<std::size_t>(column.width * kDigitPixels + 0.5 + kCellPadding);
}

std::string sheet_head(const SheetHead& head) {
  std::string xml = fmt::format(
      "{}<worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" "
      "xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\">",
      kXmlHead);
  if (head.is_page) xml += "<sheetPr><pageSetUpPr fitToPage=\"1\"/></sheetPr>";
  if (head.used) xml += fmt::format("<dimension ref=\"{}\"/>", area_name(*head.used));
  xml += fmt::format("<sheetViews><sheetView{}{} workbookViewId=\"0\">{}</sheetView></sheetViews>",
                     head.is_page ? " showGridLines=\"0\"" : "",
                     head.is_first ? " tabSelected=\"1\"" : "", pane_of(head));
  const bool has_folded = std::ranges::any_of(head.columns, &Column::is_folded);
  xml += fmt::format("<sheetFormatPr defaultRowHeight=\"15\"{}/>",
                     has_folded ? " outlineLevelCol=\"1\"" : "");
  return xml + columns_xml(head.columns) + "<sheetData>";
}

std::string sheet_tail(const SheetTail& tail) {
  std::string xml = "</sheetData>";
  if (tail.filter) xml += fmt::format("<autoFilter ref=\"{}\"/>", area_name(*tail.filter));
  for (std::size_t i = 0; i < tail.bars.size(); ++i) xml += plain_bars(tail, i);
  xml +=
      "<pageMargins left=\"0.7\" right=\"0.7\" top=\"0.75\" bottom=\"0.75\" header=\"0.3\" "
      "footer=\"0.3\"/>";
  if (tail.is_page) xml += "<pageSetup orientation=\"landscape\"/>";
  if (tail.has_drawing) xml += fmt::format("<drawing r:id=\"{}\"/>", kDrawingId);
  if (tail.has_notes) xml += fmt::format("<legacyDrawing r:id=\"{}\"/>", kNoteShapesId);
  if (!tail.bars.empty()) {
    xml += fmt::format(
        "<extLst><ext {} uri=\"{{78C0D931-6437-407d-A8EE-F0AAD7539E65}}\">"
        "<x14:conditionalFormattings>",
        kX14);
    for (std::size_t i = 0; i < tail.bars.size(); ++i) xml += solid_bars(tail, i);
    xml += "</x14:conditionalFormattings></ext></extLst>";
  }
  return xml + "</worksheet>";
}

Cells::Cells(std::string& out, std::size_t columns) : out_{out} {
  for (std::size_t i = 0; i < columns; ++i) letters_.push_back(column_letters(i));
}

void Cells::begin_row(std::size_t row) {
  row_ = fmt::format_int{row + 1}.str();
  out_.append("<row r=\"").append(row_).append("\">");
}

void Cells::end_row() { out_ += "</row>"; }

void Cells::begin_cell(std::size_t column, unsigned style) {
  out_.append("<c r=\"").append(letters_[column]).append(row_).append("\"");
  if (style != 0) out_.append(" s=\"").append(fmt::format_int{style}.c_str()).append("\"");
}

void Cells::text(std::size_t column, std::string_view text, unsigned style) {
  begin_cell(column, style);
  out_ += " t=\"inlineStr\"><is>";
  append_cell_text(out_, text);
  out_ += "</is></c>";
}

void Cells::number(std::size_t column, double value, unsigned style) {
  begin_cell(column, style);
  fmt::format_to(std::back_inserter(out_), FMT_COMPILE("><v>{}</v></c>"), value);
}

void Cells::integer(std::size_t column, std::int64_t value, unsigned style) {
  begin_cell(column, style);
  out_.append("><v>").append(fmt::format_int{value}.c_str()).append("</v></c>");
}

void Cells::truth(std::size_t column, bool value) {
  begin_cell(column, 0);
  out_ += value ? " t=\"b\"><v>1</v></c>" : " t=\"b\"><v>0</v></c>";
}

}  // namespace tracelens::xlsx
