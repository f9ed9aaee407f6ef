#include "report/xlsx/charts.hpp"

#include <fmt/format.h>

#include <iterator>

#include "report/xlsx/xml_text.hpp"
#include "table/markup.hpp"

namespace tracelens::xlsx {
namespace {

constexpr std::size_t kEmuPerPixel = 9525;
constexpr int kNamesAxis = 1001, kValuesAxis = 1002;

std::string fill_of(std::uint32_t colour) {
  return fmt::format("<c:spPr><a:solidFill><a:srgbClr val=\"{:06X}\"/></a:solidFill></c:spPr>",
                     colour);
}

std::string cells_of(const Series& series, std::size_t column) {
  return fmt::format("<c:f>{}!{}</c:f>", escaped(series.sheet),
                     absolute_area_name({series.first_row, column,
                                         series.first_row + series.names.size() - 1, column}));
}

// The cells, with their contents for programs that draw before they read the sheet.
std::string data_of(const Series& series) {
  std::string names, values;
  for (std::size_t i = 0; i < series.names.size(); ++i) {
    names += fmt::format("<c:pt idx=\"{}\"><c:v>{}</c:v></c:pt>", i, escaped(series.names[i]));
    values += fmt::format("<c:pt idx=\"{}\"><c:v>{}</c:v></c:pt>", i, series.values[i]);
  }
  return fmt::format(
      "<c:cat><c:strRef>{0}<c:strCache><c:ptCount val=\"{1}\"/>{2}</c:strCache></c:strRef></c:cat>"
      "<c:val><c:numRef>{3}<c:numCache><c:formatCode>General</c:formatCode>"
      "<c:ptCount val=\"{1}\"/>{4}</c:numCache></c:numRef></c:val>",
      cells_of(series, series.name_column), series.names.size(), names,
      cells_of(series, series.value_column), values);
}

std::string labels(std::string_view format, bool is_percent) {
  return fmt::format(
      "<c:dLbls><c:numFmt formatCode=\"{}\" sourceLinked=\"0\"/><c:showLegendKey val=\"0\"/>"
      "<c:showVal val=\"{}\"/><c:showCatName val=\"0\"/><c:showSerName val=\"0\"/>"
      "<c:showPercent val=\"{}\"/><c:showBubbleSize val=\"0\"/></c:dLbls>",
      escaped(format), is_percent ? 0 : 1, is_percent ? 1 : 0);
}

std::string chart_space(std::string_view title, std::string_view plot, std::string_view legend) {
  return fmt::format(
      "{}<c:chartSpace xmlns:c=\"http://schemas.openxmlformats.org/drawingml/2006/chart\" "
      "xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\">"
      "<c:roundedCorners val=\"0\"/><c:chart><c:title><c:tx><c:rich><a:bodyPr/><a:p><a:pPr>"
      "<a:defRPr sz=\"1200\" b=\"1\"/></a:pPr><a:r><a:rPr lang=\"en-US\" sz=\"1200\" b=\"1\"/>"
      "<a:t>{}</a:t></a:r></a:p></c:rich></c:tx><c:overlay val=\"0\"/></c:title>"
      "<c:autoTitleDeleted val=\"0\"/><c:plotArea><c:layout/>{}</c:plotArea>{}"
      "<c:plotVisOnly val=\"1\"/></c:chart></c:chartSpace>",
      kXmlHead, escaped(title), plot, legend);
}

}  // namespace

std::string doughnut_chart(std::string_view title, const Series& series,
                           std::span<const std::uint32_t> colours) {
  std::string points;
  for (std::size_t i = 0; i < colours.size(); ++i)
    points += fmt::format("<c:dPt><c:idx val=\"{}\"/>{}</c:dPt>", i, fill_of(colours[i]));
  return chart_space(
      title,
      fmt::format("<c:doughnutChart><c:varyColors val=\"1\"/><c:ser><c:idx val=\"0\"/>"
                  "<c:order val=\"0\"/>{}{}{}</c:ser><c:firstSliceAng val=\"0\"/>"
                  "<c:holeSize val=\"50\"/></c:doughnutChart>",
                  points, labels("[<0.03]\"\";0%", true), data_of(series)),
      "<c:legend><c:legendPos val=\"r\"/><c:overlay val=\"0\"/></c:legend>");
}

std::string bar_chart(std::string_view title, const Series& series, std::uint32_t colour) {
  // The bars have their numbers, so the axis of values is left out.
  return chart_space(
      title,
      fmt::format(
          "<c:barChart><c:barDir val=\"bar\"/><c:grouping val=\"clustered\"/>"
          "<c:varyColors val=\"0\"/><c:ser><c:idx val=\"0\"/><c:order val=\"0\"/>{0}"
          "<c:invertIfNegative val=\"0\"/>{1}{2}</c:ser><c:axId val=\"{3}\"/><c:axId val=\"{4}\"/>"
          "</c:barChart><c:catAx><c:axId val=\"{3}\"/><c:scaling><c:orientation val=\"maxMin\"/>"
          "</c:scaling><c:delete val=\"0\"/><c:axPos val=\"l\"/><c:tickLblPos val=\"nextTo\"/>"
          "<c:crossAx val=\"{4}\"/><c:crosses val=\"autoZero\"/></c:catAx>"
          "<c:valAx><c:axId val=\"{4}\"/><c:scaling><c:orientation val=\"minMax\"/></c:scaling>"
          "<c:delete val=\"1\"/><c:axPos val=\"t\"/><c:crossAx val=\"{3}\"/>"
          "<c:crosses val=\"autoZero\"/><c:crossBetween val=\"between\"/></c:valAx>",
          fill_of(colour), labels("#,##0.0", false), data_of(series), kNamesAxis, kValuesAxis),
      "");
}

std::string drawing_xml(std::span<const Chart> charts, std::span<const Column> columns) {
  std::string xml = fmt::format(
      "{}<xdr:wsDr xmlns:xdr=\"http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing\" "
      "xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\">",
      kXmlHead);
  for (std::size_t i = 0; i < charts.size(); ++i) {
    const Chart& chart = charts[i];
    std::size_t column = 0, left = chart.left;
    for (; column < columns.size() && left >= pixels_of(columns[column]); ++column)
      left -= pixels_of(columns[column]);
    fmt::format_to(
        std::back_inserter(xml),
        "<xdr:oneCellAnchor><xdr:from><xdr:col>{}</xdr:col><xdr:colOff>{}</xdr:colOff>"
        "<xdr:row>{}</xdr:row><xdr:rowOff>0</xdr:rowOff></xdr:from><xdr:ext cx=\"{}\" cy=\"{}\"/>"
        "<xdr:graphicFrame macro=\"\"><xdr:nvGraphicFramePr><xdr:cNvPr id=\"{}\" name=\"Chart {}\"/>"
        "<xdr:cNvGraphicFramePr/></xdr:nvGraphicFramePr><xdr:xfrm><a:off x=\"0\" y=\"0\"/>"
        "<a:ext cx=\"0\" cy=\"0\"/></xdr:xfrm><a:graphic>"
        "<a:graphicData uri=\"http://schemas.openxmlformats.org/drawingml/2006/chart\">"
        "<c:chart xmlns:c=\"http://schemas.openxmlformats.org/drawingml/2006/chart\" "
        "xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\" "
        "r:id=\"rId{}\"/></a:graphicData></a:graphic></xdr:graphicFrame><xdr:clientData/>"
        "</xdr:oneCellAnchor>",
        column, left * kEmuPerPixel, chart.row, chart.width * kEmuPerPixel,
        chart.height * kEmuPerPixel, i + 2, i + 1, i + 1);
  }
  return xml + "</xdr:wsDr>";
}

}  // namespace tracelens::xlsx
