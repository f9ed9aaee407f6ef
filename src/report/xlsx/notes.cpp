#include "report/xlsx/notes.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <iterator>

#include "report/xlsx/xml_text.hpp"
#include "table/markup.hpp"

namespace tracelens::xlsx {
namespace {

constexpr std::size_t kBoxWidth = 256, kBoxHeight = 74, kBesideCell = 15, kBelowEdge = 2;  // pixels
constexpr std::size_t kRowPixels = 20, kOtherColumn = 64;  // of columns behind the last

struct Place {
  std::size_t column = 0, pixels = 0;  // the column and how far into it
};

Place place_at(std::span<const Column> columns, std::size_t column, std::size_t pixels) {
  for (;; ++column) {
    const std::size_t width = column < columns.size() ? pixels_of(columns[column]) : kOtherColumn;
    if (pixels < width) return {column, pixels};
    pixels -= width;
  }
}

}  // namespace

std::string notes_xml(std::span<const Note> notes) {
  std::string xml = fmt::format(
      "{}<comments xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><authors>"
      "<author>TraceLens</author></authors><commentList>",
      kXmlHead);
  for (const Note& note : notes) {
    fmt::format_to(std::back_inserter(xml),
                   FMT_COMPILE("<comment ref=\"{}1\" authorId=\"0\"><text><r><rPr><sz val=\"8\"/>"
                               "<color indexed=\"81\"/><rFont val=\"Tahoma\"/><family val=\"2\"/>"
                               "</rPr><t xml:space=\"preserve\">"),
                   column_letters(note.column));
    append_escaped(xml, note.text);
    xml += "</t></r></text></comment>";
  }
  return xml + "</commentList></comments>";
}

std::string note_shapes_xml(std::span<const Note> notes, std::span<const Column> columns,
                            std::size_t sheet) {
  std::string xml = fmt::format(
      "<xml xmlns:v=\"urn:schemas-microsoft-com:vml\" "
      "xmlns:o=\"urn:schemas-microsoft-com:office:office\" "
      "xmlns:x=\"urn:schemas-microsoft-com:office:excel\"><o:shapelayout v:ext=\"edit\">"
      "<o:idmap v:ext=\"edit\" data=\"{}\"/></o:shapelayout><v:shapetype id=\"_x0000_t202\" "
      "coordsize=\"21600,21600\" o:spt=\"202\" path=\"m,l,21600r21600,l21600,xe\">"
      "<v:stroke joinstyle=\"miter\"/><v:path gradientshapeok=\"t\" o:connecttype=\"rect\"/>"
      "</v:shapetype>",
      sheet);
  constexpr std::size_t kBottom = kBelowEdge + kBoxHeight;
  std::size_t number = sheet * (kMostNotes + 1);
  for (const Note& note : notes) {
    const Place left = place_at(columns, note.column + 1, kBesideCell);
    const Place right = place_at(columns, left.column, left.pixels + kBoxWidth);
    fmt::format_to(
        std::back_inserter(xml),
        FMT_COMPILE(
            "<v:shape id=\"_x0000_s{}\" type=\"#_x0000_t202\" style=\"position:absolute;"
            "width:192pt;height:55.5pt;visibility:hidden\" fillcolor=\"#ffffe1\" "
            "o:insetmode=\"auto\"><v:fill color2=\"#ffffe1\"/><v:shadow on=\"t\" color=\"black\" "
            "obscured=\"t\"/><v:path o:connecttype=\"none\"/><v:textbox/>"
            "<x:ClientData ObjectType=\"Note\"><x:MoveWithCells/><x:SizeWithCells/>"
            "<x:Anchor>{}, {}, 0, {}, {}, {}, {}, {}</x:Anchor><x:AutoFill>False</x:AutoFill>"
            "<x:Row>0</x:Row><x:Column>{}</x:Column></x:ClientData></v:shape>"),
        ++number, left.column, left.pixels, kBelowEdge, right.column, right.pixels,
        kBottom / kRowPixels, kBottom % kRowPixels, note.column);
  }
  return xml + "</xml>";
}

}  // namespace tracelens::xlsx
