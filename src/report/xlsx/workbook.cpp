#include "report/xlsx/workbook.hpp"

#include <fmt/format.h>

#include <string_view>

#include "io/zip_writer.hpp"
#include "report/xlsx/xml_text.hpp"
#include "table/markup.hpp"

namespace tracelens::xlsx {
namespace {

constexpr std::string_view kOffice =
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
constexpr std::string_view kPackage = "http://schemas.openxmlformats.org/package/2006";

// The links of one part to others.
class Links {
 public:
  void add(std::string_view id, std::string_view type, std::string_view target) {
    xml_ += fmt::format("<Relationship Id=\"{}\" Type=\"{}\" Target=\"{}\"/>", id, type, target);
  }
  void add_office(std::string_view id, std::string_view kind, std::string_view target) {
    add(id, fmt::format("{}/{}", kOffice, kind), target);
  }
  [[nodiscard]] bool empty() const { return xml_.empty(); }
  [[nodiscard]] std::string xml() const {
    return fmt::format("{}<Relationships xmlns=\"{}/relationships\">{}</Relationships>", kXmlHead,
                       kPackage, xml_);
  }

 private:
  std::string xml_;
};

// Without the time of day: the same tables make the same file.
std::string core_properties(const Properties& about) {
  return fmt::format(
      "{}<cp:coreProperties xmlns:cp=\"{}/metadata/core-properties\" "
      "xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><dc:title>{}</dc:title>"
      "<dc:subject>{}</dc:subject><dc:creator>{}</dc:creator><dc:description>{}</dc:description>"
      "</cp:coreProperties>",
      kXmlHead, kPackage, escaped(about.title), escaped(about.subject), escaped(about.author),
      escaped(about.comments));
}

std::string workbook_xml(std::span<const Sheet> sheets) {
  std::string list, filters;
  for (std::size_t i = 0; i < sheets.size(); ++i) {
    list += fmt::format("<sheet name=\"{}\" sheetId=\"{}\" r:id=\"rId{}\"/>",
                        escaped(sheets[i].name), i + 1, i + 1);
    // Excel looks for the area of a filter here too.
    if (sheets[i].filter)
      filters += fmt::format(
          "<definedName name=\"_xlnm._FilterDatabase\" localSheetId=\"{}\" hidden=\"1\">'{}'!{}"
          "</definedName>",
          i, escaped(sheets[i].name), absolute_area_name(*sheets[i].filter));
  }
  if (!filters.empty()) filters = "<definedNames>" + filters + "</definedNames>";
  return fmt::format(
      "{}<workbook xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" "
      "xmlns:r=\"{}\"><bookViews><workbookView windowWidth=\"24000\" windowHeight=\"14000\"/>"
      "</bookViews><sheets>{}</sheets>{}</workbook>",
      kXmlHead, kOffice, list, filters);
}

// The archive, and the list of what its parts are, which is a part itself.
class Package {
 public:
  explicit Package(io::OutputFile& file) : archive_{file} {}

  void add(const std::string& name, std::string_view type, std::span<const io::GzipPiece> pieces) {
    archive_.add(name, pieces);
    types_ += fmt::format("<Override PartName=\"/{}\" ContentType=\"application/vnd.{}+xml\"/>",
                          name, type);
  }
  void add(const std::string& name, std::string_view type, std::string_view xml) {
    const io::GzipPiece piece = packer_.pack(xml);
    add(name, type, {&piece, 1});
  }
  // Parts of these kinds are known by their ending.
  void add_links(const std::string& name, const Links& links) {
    const io::GzipPiece piece = packer_.pack(links.xml());
    archive_.add(name, {&piece, 1});
  }
  void add_shapes(const std::string& name, std::span<const io::GzipPiece> pieces) {
    archive_.add(name, pieces);
  }

  void finish() {
    const io::GzipPiece piece = packer_.pack(fmt::format(
        "{}<Types xmlns=\"{}/content-types\"><Default Extension=\"rels\" "
        "ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>"
        "<Default Extension=\"xml\" ContentType=\"application/xml\"/><Default Extension=\"vml\" "
        "ContentType=\"application/vnd.openxmlformats-officedocument.vmlDrawing\"/>{}</Types>",
        kXmlHead, kPackage, types_));
    archive_.add("[Content_Types].xml", {&piece, 1});
    archive_.finish();
  }

 private:
  io::ZipWriter archive_;
  io::GzipPacker packer_;
  std::string types_;
};

constexpr std::string_view kSheetType = "openxmlformats-officedocument.spreadsheetml.";

void add_charts(Package& package, const Sheet& sheet, Links& links) {
  links.add_office(kDrawingId, "drawing", "../drawings/drawing1.xml");
  package.add("xl/drawings/drawing1.xml", "openxmlformats-officedocument.drawing", sheet.drawing);
  Links charts;
  for (std::size_t i = 1; i <= sheet.charts.size(); ++i) {
    const std::string name = fmt::format("charts/chart{}.xml", i);
    package.add("xl/" + name, "openxmlformats-officedocument.drawingml.chart",
                sheet.charts[i - 1].xml);
    charts.add_office(fmt::format("rId{}", i), "chart", "../" + name);
  }
  package.add_links("xl/drawings/_rels/drawing1.xml.rels", charts);
}

void add_sheet(Package& package, const Sheet& sheet, std::size_t number) {
  package.add(fmt::format("xl/worksheets/sheet{}.xml", number),
              fmt::format("{}worksheet", kSheetType), sheet.xml);
  Links links;
  if (!sheet.notes.empty()) {
    const std::string notes = fmt::format("comments{}.xml", number),
                      shapes = fmt::format("drawings/vmlDrawing{}.vml", number);
    package.add("xl/" + notes, fmt::format("{}comments", kSheetType), sheet.notes);
    package.add_shapes("xl/" + shapes, sheet.note_shapes);
    links.add_office(kNoteShapesId, "vmlDrawing", "../" + shapes);
    links.add_office(kNotesId, "comments", "../" + notes);
  }
  if (!sheet.charts.empty()) add_charts(package, sheet, links);
  if (!links.empty())
    package.add_links(fmt::format("xl/worksheets/_rels/sheet{}.xml.rels", number), links);
}

}  // namespace

void write_workbook(io::OutputFile& file, std::span<const Sheet> sheets, const Styles& styles,
                    const Properties& properties) {
  Package package{file};
  Links top, inner;
  top.add_office("rId1", "officeDocument", "xl/workbook.xml");
  top.add("rId2", fmt::format("{}/relationships/metadata/core-properties", kPackage),
          "docProps/core.xml");
  package.add_links("_rels/.rels", top);
  package.add("docProps/core.xml", "openxmlformats-package.core-properties",
              core_properties(properties));
  package.add("xl/workbook.xml", fmt::format("{}sheet.main", kSheetType), workbook_xml(sheets));
  package.add("xl/styles.xml", fmt::format("{}styles", kSheetType), styles.xml());
  for (std::size_t i = 1; i <= sheets.size(); ++i) {
    add_sheet(package, sheets[i - 1], i);
    inner.add_office(fmt::format("rId{}", i), "worksheet",
                     fmt::format("worksheets/sheet{}.xml", i));
  }
  inner.add_office("rIdStyles", "styles", "styles.xml");
  package.add_links("xl/_rels/workbook.xml.rels", inner);
  package.finish();
}

}  // namespace tracelens::xlsx
