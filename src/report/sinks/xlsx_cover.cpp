#include "report/sinks/xlsx_cover.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <tracelens/table_text.hpp>
#include <utility>
#include <vector>

#include "report/sinks/overview_tables.hpp"
#include "report/sinks/sink.hpp"
#include "report/sinks/xlsx_text.hpp"
#include "report/xlsx/charts.hpp"
#include "report/xlsx/sheet.hpp"

namespace tracelens {
namespace {

using xlsx::Style;

constexpr double kWidths[] = {34, 12, 12, 12, 60};  // of the columns, in characters
constexpr std::size_t kChartRows = 15;              // of 20 pixels
constexpr std::size_t kSplitWidth = 470, kCostsWidth = 560, kChartHeight = 290;  // pixels
constexpr std::uint32_t kMuted = 0x666666, kCostBar = 0x2F7ED8;

// The same part has the same colour in every workbook; others take the next of the rest.
struct PartColour {
  std::string_view name;
  std::uint32_t colour;
};
constexpr PartColour kPartColours[] = {
    {"compute", 0x2F7ED8}, {"comm", 0xE8710A}, {"copy", 0x2CA25F}, {"idle", 0x8C8C8C},
    {"", 0xC2408F},        {"", 0x8A63D2},     {"", 0xB8860B},     {"", 0x17A2B8}};

std::uint32_t colour_of(std::string_view part, std::size_t& others) {
  constexpr std::size_t kNamed = 4;
  for (const PartColour& each : kPartColours)
    if (!each.name.empty() && part.find(each.name) != part.npos) return each.colour;
  return kPartColours[kNamed + others++ % (std::size(kPartColours) - kNamed)].colour;
}

class Cover {
 public:
  Cover(const DocumentInfo& info, xlsx::Styles& styles) : styles_{styles} {
    xlsx::SheetHead head{.columns = {}, .is_first = true, .is_page = true};
    for (const double width : kWidths) head.columns.push_back({.width = width});
    xml_ = sheet_head(head);
    write_top(*info.overview, info);
    const std::size_t charts = row_;
    if (!info.overview->split.empty() || !info.overview->costs.empty()) row_ += kChartRows + 1;
    for (const Table& table : overview_tables(*info.overview)) write_table(table);
    write_lines(kAdviceTitle, info.overview->advice, xlsx::kPlain);
    write_lines("Commands", info.overview->commands, styles_.number_of({.is_code = true}));
    add_charts(*info.overview, charts);
    tail_.has_drawing = !charts_.empty();
    xml_ += sheet_tail(tail_);
    drawing_ = xlsx::drawing_xml(charts_, head.columns);
  }

  [[nodiscard]] xlsx::Sheet sheet() && {
    return {.name = std::string{kCoverSheet},
            .xml = {io::GzipPacker{io::Packing::kSmall}.pack(xml_)},
            .notes = {},
            .note_shapes = {},
            .charts = std::move(charts_),
            .drawing = std::move(drawing_)};
  }

 private:
  [[nodiscard]] unsigned bold(int points) const {
    return styles_.number_of({.is_bold = true, .points = points});
  }

  void write_line(std::string_view text, unsigned style) {
    if (text.empty()) return;
    cells_.begin_row(row_++);
    cells_.text(0, cell_text(text), style);
    cells_.end_row();
  }

  void write_top(const Overview& overview, const DocumentInfo& info) {
    const unsigned muted = styles_.number_of({.colour = kMuted});
    write_line(overview.verdict, bold(16));
    write_line(overview.run, bold(11));
    write_line(overview.nothing_found, xlsx::kPlain);
    write_line(info.title, muted);
    for (const std::string& line : info.source) write_line(line, muted);
    write_line(info.subtitle, muted);
    if (!info.version.empty()) write_line("TraceLens " + info.version, muted);
    ++row_;
  }

  void write_table(const Table& table) {
    write_line(table.name(), bold(12));
    const auto header = [&](Style::Place place) {
      return styles_.number_of({.is_bold = true, .lines = Style::Lines::kBelow, .place = place});
    };
    const auto columns = table.columns();
    cells_.begin_row(row_);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const ColumnSpec& spec = columns[i].spec();
      cells_.text(
          i,
          cell_text(spec.unit.empty() ? spec.name : fmt::format("{} ({})", spec.name, spec.unit)),
          header(is_numeric(spec) ? Style::Place::kRight
                 : i == 0         ? Style::Place::kUsual
                                  : Style::Place::kIndented));
    }
    cells_.end_row();
    const std::size_t first = row_ + 1, last = row_ + table.rows();
    for (std::size_t row = 0; row < table.rows(); ++row) {
      cells_.begin_row(++row_);
      for (std::size_t i = 0; i < columns.size(); ++i) write_cell(columns[i], row, i);
      cells_.end_row();
    }
    for (std::size_t i = 0; i < columns.size() && table.rows() > 0; ++i)
      if (columns[i].spec().unit == "%") tail_.bars.push_back({{first, i, last, i}, true});
    tables_.emplace_back(table.name(), first);
    row_ += 2;
  }

  void write_cell(const Table::Column& column, std::size_t row, std::size_t at) {
    if (column.is_missing(row)) return;
    if (column.spec().kind == Kind::kReal && std::isfinite(column.reals()[row]))
      cells_.number(at, column.reals()[row], styles_.number_of({.number_format = "#,##0.00"}));
    else
      cells_.text(at, cell_text(plain_text(column, row)),
                  at == 0 ? xlsx::kPlain : styles_.number_of({.place = Style::Place::kIndented}));
  }

  void write_lines(std::string_view title, std::span<const std::string> lines, unsigned style) {
    if (lines.empty()) return;
    write_line(title, bold(12));
    for (const std::string& line : lines) write_line(line, style);
    ++row_;
  }

  // Names and times of the table that begins there, as a chart takes them.
  template <class Rows>
  static xlsx::Series series_of(const Rows& rows, std::size_t first_row) {
    constexpr double kNsPerMs = 1e6;
    xlsx::Series series{.sheet = std::string{kCoverSheet},
                        .first_row = first_row,
                        .name_column = 0,
                        .value_column = 1,
                        .names = {},
                        .values = {}};
    for (const auto& row : rows) {
      series.names.push_back(cell_text(row.name));
      series.values.push_back(static_cast<double>(row.ns) / kNsPerMs);
    }
    return series;
  }

  void add_charts(const Overview& overview, std::size_t row) {
    std::size_t left = 0;
    if (!overview.split.empty()) {
      const auto& [title, first] = tables_[overview.causes.empty() ? 0 : 1];
      std::vector<std::uint32_t> colours;
      std::size_t others = 0;
      for (const Overview::Part& part : overview.split)
        colours.push_back(colour_of(part.name, others));
      charts_.push_back({.xml = xlsx::doughnut_chart(sheet_text(title, kMaxCellText),
                                                     series_of(overview.split, first), colours),
                         .row = row,
                         .left = left,
                         .width = kSplitWidth,
                         .height = kChartHeight});
      left += kSplitWidth + 10;
    }
    if (overview.costs.empty()) return;
    const auto& [title, first] = tables_.back();
    charts_.push_back({.xml = xlsx::bar_chart(sheet_text(title, kMaxCellText) + " (ms)",
                                              series_of(overview.costs, first), kCostBar),
                       .row = row,
                       .left = left,
                       .width = kCostsWidth,
                       .height = kChartHeight});
  }

  xlsx::Styles& styles_;
  std::string xml_;
  xlsx::Cells cells_{xml_, std::size(kWidths)};
  xlsx::SheetTail tail_{.number = 1, .is_page = true};
  std::size_t row_ = 0;
  std::vector<std::pair<std::string, std::size_t>> tables_;  // names and first rows
  std::vector<xlsx::Chart> charts_;
  std::string drawing_;
};

}  // namespace

xlsx::Sheet cover_sheet(const DocumentInfo& info, xlsx::Styles& styles) {
  return Cover{info, styles}.sheet();
}

}  // namespace tracelens
