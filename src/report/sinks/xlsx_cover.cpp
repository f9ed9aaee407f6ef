#include "report/sinks/xlsx_cover.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <tracelens/error.hpp>
#include <tracelens/table_text.hpp>
#include <utility>
#include <vector>

#include "report/sinks/overview_tables.hpp"
#include "report/sinks/sink.hpp"
#include "report/sinks/xlsx_text.hpp"

namespace tracelens {
namespace {

constexpr double kWidths[] = {34, 12, 12, 12, 60};  // of the columns, in characters
constexpr lxw_row_t kChartRows = 15;                // of 20 pixels
constexpr std::uint32_t kSplitWidth = 470, kCostsWidth = 560, kChartHeight = 290;  // pixels
constexpr lxw_color_t kMuted = 0x666666, kBar = 0x9DC3E6, kCostBar = 0x2F7ED8;

// The same part has the same colour in every workbook; others take the next of the rest.
struct PartColour {
  std::string_view name;
  lxw_color_t colour;
};
constexpr PartColour kPartColours[] = {
    {"compute", 0x2F7ED8}, {"comm", 0xE8710A}, {"copy", 0x2CA25F}, {"idle", 0x8C8C8C},
    {"", 0xC2408F},        {"", 0x8A63D2},     {"", 0xB8860B},     {"", 0x17A2B8}};

lxw_color_t colour_of(std::string_view part, std::size_t& others) {
  constexpr std::size_t kNamed = 4;
  for (const PartColour& each : kPartColours)
    if (!each.name.empty() && part.find(each.name) != part.npos) return each.colour;
  return kPartColours[kNamed + others++ % (std::size(kPartColours) - kNamed)].colour;
}

class Cover {
 public:
  Cover(lxw_workbook* workbook, const DocumentInfo& info)
      : workbook_{workbook},
        sheet_{workbook_add_worksheet(workbook, std::string{kCoverSheet}.c_str())} {
    if (sheet_ == nullptr) throw Error{"overview", "cannot add the sheet"};
    indented_ = format();
    format_set_indent(indented_, 1);
    worksheet_gridlines(sheet_, LXW_HIDE_ALL_GRIDLINES);
    worksheet_set_landscape(sheet_);
    worksheet_fit_to_pages(sheet_, 1, 1);
    for (lxw_col_t i = 0; i < static_cast<lxw_col_t>(std::size(kWidths)); ++i)
      check(worksheet_set_column(sheet_, i, i, kWidths[i], nullptr));
    write_top(*info.overview, info);
    const lxw_row_t charts = row_;
    if (!info.overview->split.empty() || !info.overview->costs.empty()) row_ += kChartRows + 1;
    for (const Table& table : overview_tables(*info.overview)) write_table(table);
    write_lines(kAdviceTitle, info.overview->advice, nullptr);
    lxw_format* const code = format();
    format_set_font_name(code, "Courier New");
    write_lines("Commands", info.overview->commands, code);
    insert_charts(*info.overview, charts);
  }

 private:
  struct Range {
    lxw_row_t first = 0, last = 0;
  };

  static void check(lxw_error error) {
    if (error != LXW_NO_ERROR) throw Error{std::string{kCoverSheet}, lxw_strerror(error)};
  }

  [[nodiscard]] lxw_format* format() const { return workbook_add_format(workbook_); }

  [[nodiscard]] lxw_format* bold(double size) const {
    lxw_format* const made = format();
    format_set_bold(made);
    format_set_font_size(made, size);
    return made;
  }

  void write_line(std::string_view text, lxw_format* style) {
    if (text.empty()) return;
    check(worksheet_write_string(sheet_, row_++, 0, cell_text(text).c_str(), style));
  }

  void write_top(const Overview& overview, const DocumentInfo& info) {
    lxw_format* const muted = format();
    format_set_font_color(muted, kMuted);
    write_line(overview.verdict, bold(16));
    write_line(overview.run, bold(11));
    write_line(overview.nothing_found, nullptr);
    write_line(info.title, muted);
    for (const std::string& line : info.source) write_line(line, muted);
    write_line(info.subtitle, muted);
    if (!info.version.empty()) write_line("TraceLens " + info.version, muted);
    ++row_;
  }

  void write_table(const Table& table) {
    write_line(table.name(), bold(12));
    lxw_format *const header = bold(11), *const header_right = bold(11),
                      *const header_text = bold(11), *const number = format();
    for (lxw_format* const each : {header, header_right, header_text})
      format_set_bottom(each, LXW_BORDER_THIN);
    format_set_align(header_right, LXW_ALIGN_RIGHT);
    format_set_indent(header_text, 1);
    format_set_num_format(number, "#,##0.00");
    const auto columns = table.columns();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const ColumnSpec& spec = columns[i].spec();
      const std::string name =
          spec.unit.empty() ? spec.name : fmt::format("{} ({})", spec.name, spec.unit);
      check(worksheet_write_string(sheet_, row_, static_cast<lxw_col_t>(i), name.c_str(),
                                   is_numeric(spec) ? header_right
                                   : i == 0         ? header
                                                    : header_text));
    }
    const Range cells{row_ + 1, row_ + static_cast<lxw_row_t>(table.rows())};
    for (std::size_t row = 0; row < table.rows(); ++row) {
      ++row_;
      for (std::size_t i = 0; i < columns.size(); ++i) write_cell(columns[i], row, i, number);
    }
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (columns[i].spec().unit == "%")
        check(add_bars(sheet_, cells.first, cells.last, static_cast<lxw_col_t>(i), true));
    tables_.emplace_back(table.name(), cells);
    row_ += 2;
  }

  void write_cell(const Table::Column& column, std::size_t row, std::size_t at,
                  lxw_format* number) {
    if (column.is_missing(row)) return;
    const auto x = static_cast<lxw_col_t>(at);
    if (column.spec().kind == Kind::kReal && std::isfinite(column.reals()[row]))
      check(worksheet_write_number(sheet_, row_, x, column.reals()[row], number));
    else
      check(worksheet_write_string(sheet_, row_, x, cell_text(plain_text(column, row)).c_str(),
                                   at == 0 ? nullptr : indented_));
  }

  void write_lines(std::string_view title, std::span<const std::string> lines, lxw_format* style) {
    if (lines.empty()) return;
    write_line(title, bold(12));
    for (const std::string& line : lines) write_line(line, style);
    ++row_;
  }

  // Names and times of the table of this kind, as a chart takes them.
  lxw_chart_series* add_series(lxw_chart* chart, const Range& cells) {
    lxw_chart_series* const series = chart_add_series(chart, nullptr, nullptr);
    if (series == nullptr) throw Error{std::string{kCoverSheet}, "cannot add a chart"};
    const std::string sheet{kCoverSheet};
    chart_series_set_categories(series, sheet.c_str(), cells.first, 0, cells.last, 0);
    chart_series_set_values(series, sheet.c_str(), cells.first, 1, cells.last, 1);
    return series;
  }

  void insert_chart(lxw_chart* chart, lxw_row_t row, std::uint32_t left, std::uint32_t width,
                    std::string_view title) {
    lxw_chart_font font{};
    font.size = 12;
    font.bold = LXW_TRUE;
    chart_title_set_name(chart, sheet_text(title, kMaxCellText).c_str());
    chart_title_set_name_font(chart, &font);
    lxw_chart_options options{};
    options.x_offset = static_cast<std::int32_t>(left);
    options.x_scale = width / 480.0;  // its size without scale
    options.y_scale = kChartHeight / 288.0;
    options.object_position = LXW_OBJECT_MOVE_DONT_SIZE;
    check(worksheet_insert_chart_opt(sheet_, row, 0, chart, &options));
  }

  void insert_charts(const Overview& overview, lxw_row_t row) {
    std::uint32_t left = 0;
    if (!overview.split.empty()) {
      const auto& [title, cells] = tables_[overview.causes.empty() ? 0 : 1];
      lxw_chart* const chart = workbook_add_chart(workbook_, LXW_CHART_DOUGHNUT);
      lxw_chart_series* const series = add_series(chart, cells);
      chart_series_set_labels(series);
      chart_series_set_labels_options(series, LXW_FALSE, LXW_FALSE, LXW_FALSE);
      chart_series_set_labels_percentage(series);
      // Those of small parts would lie on each other.
      chart_series_set_labels_num_format(series, "[<0.03]\"\";0%");
      colour_points(series, overview.split);
      insert_chart(chart, row, left, kSplitWidth, title);
      left += kSplitWidth + 10;
    }
    if (overview.costs.empty()) return;
    const auto& [title, cells] = tables_.back();
    lxw_chart* const chart = workbook_add_chart(workbook_, LXW_CHART_BAR);
    lxw_chart_series* const series = add_series(chart, cells);
    lxw_chart_fill fill{};
    fill.color = kCostBar;
    chart_series_set_fill(series, &fill);
    chart_series_set_labels(series);
    chart_series_set_labels_num_format(series, "#,##0.0");
    chart_legend_set_position(chart, LXW_CHART_LEGEND_NONE);
    chart_axis_set_reverse(chart->y_axis);  // the costliest on top
    chart_axis_major_gridlines_set_visible(chart->x_axis, LXW_FALSE);
    chart_axis_off(chart->x_axis);  // the bars have their numbers
    insert_chart(chart, row, left, kCostsWidth, title + " (ms)");
  }

  static void colour_points(lxw_chart_series* series, std::span<const Overview::Part> parts) {
    std::vector<lxw_chart_fill> fills(parts.size());
    std::vector<lxw_chart_point> points(parts.size());
    std::vector<lxw_chart_point*> list;
    std::size_t others = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      fills[i].color = colour_of(parts[i].name, others);
      points[i].fill = &fills[i];
      list.push_back(&points[i]);
    }
    list.push_back(nullptr);
    check(chart_series_set_points(series, list.data()));
  }

  lxw_workbook* workbook_;
  lxw_worksheet* sheet_;
  lxw_format* indented_ = nullptr;  // beside a number
  lxw_row_t row_ = 0;
  std::vector<std::pair<std::string, Range>> tables_;
};

}  // namespace

void write_cover(lxw_workbook* workbook, const DocumentInfo& info) { Cover{workbook, info}; }

lxw_error add_bars(lxw_worksheet* sheet, lxw_row_t first, lxw_row_t last, lxw_col_t column,
                   bool up_to_hundred) {
  lxw_conditional_format bars{};
  bars.type = LXW_CONDITIONAL_DATA_BAR;
  bars.data_bar_2010 = LXW_TRUE;
  bars.bar_solid = LXW_TRUE;
  bars.bar_color = kBar;
  bars.min_rule_type = LXW_CONDITIONAL_RULE_TYPE_NUMBER;
  bars.min_value = 0;
  if (up_to_hundred) {
    bars.max_rule_type = LXW_CONDITIONAL_RULE_TYPE_NUMBER;
    bars.max_value = 100;
  }
  return worksheet_conditional_format_range(sheet, first, column, last, column, &bars);
}

}  // namespace tracelens
