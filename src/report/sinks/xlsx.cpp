// xlsx.cpp: one workbook, one sheet per table, ready to sort and filter.
// The header row is frozen and filtered, and a note on each header cell says what the column means;
// names stay in sight on wide sheets, shares have bars, columns that are seldom read are folded.
// libxlsxwriter runs in its constant-memory mode: a row goes to disk when the next one begins, so
// rows must be written from top to bottom, and cells of a row from left to right.
#include <xlsxwriter.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/error.hpp>
#include <tracelens/table_text.hpp>
#include <vector>

#include "io/output_file.hpp"
#include "report/sinks/sinks.hpp"
#include "report/sinks/unique_names.hpp"
#include "report/sinks/xlsx_close.hpp"
#include "report/sinks/xlsx_cover.hpp"
#include "report/sinks/xlsx_text.hpp"
#include "table/utf8.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kMostCellsKept = 500'000;  // about 50 MB
constexpr std::size_t kBytesPerCell = 128;
constexpr std::size_t kRoom = std::size_t{8} << 20;  // for all besides the cells: formats, packing

// Excel's own limits.
constexpr std::size_t kMaxRows = 1'048'576, kMaxColumns = 16'384;
constexpr std::size_t kMaxSheetName = 31, kMaxProperty = 255;
constexpr std::int64_t kMaxExactInteger = std::int64_t{1} << 53;  // numbers are doubles

constexpr std::size_t kRowsMeasured = 200;  // for the width of a column
constexpr double kMinWidth = 8, kMaxWidth = 60, kFilterButton = 3;
// Names stay in sight where a sheet is wider than a screen, as far as they leave room for the rest.
constexpr double kWideSheet = 120, kMaxFrozen = 70;

std::string sheet_name(std::string_view table_name) {
  std::string name = sheet_text(table_name, kMaxCellText);
  for (char& c : name)
    if (std::string_view{"[]:*?/\\'\n\t"}.find(c) != std::string_view::npos) c = '_';
  // Excel keeps "History" for itself, in any case.
  if (name.empty() || (name.size() == 7 && lxw_strcasecmp(name.c_str(), "history") == 0))
    name += "_";
  return name;
}

// How Excel shows a column's numbers; the cells keep every digit.
const char* number_format(const ColumnSpec& spec) {
  if (spec.kind == Kind::kInteger) return spec.unit == "id" ? "0" : "#,##0";
  if (spec.kind != Kind::kReal || spec.unit.empty()) return "General";
  if (spec.unit == "%") return "0.00";
  return "#,##0.00##";
}

// Percentages that say something as bars. The sum so far does not, nor do differences.
bool has_bars(const Table::Column& column) {
  return column.spec().kind == Kind::kReal && column.spec().unit == "%" &&
         !column.spec().name.starts_with("Cumulative") &&
         std::ranges::none_of(column.reals(), [](double value) { return value < 0; });
}

// Parts of one whole are compared with each other, others (of a roof) with what they could be.
bool are_parts(const Table::Column& column) {
  constexpr double kRounded = 101;
  double sum = 0;
  for (std::size_t row = 0; row < column.size(); ++row)
    if (!column.is_missing(row)) sum += column.reals()[row];
  return sum <= kRounded;
}

class XlsxSink final : public Sink {
 public:
  XlsxSink(const std::string& output, const DocumentInfo& info)
      : output_{output},
        file_{output},
        is_folded_{info.is_folded},
        is_ours_{info.edition == Edition::kExtended} {
    look_for_room(0);
    lxw_workbook_options options{};
    // Row by row it takes no memory, but more time and a larger file: equal texts are repeated.
    options.constant_memory = info.cells > kMostCellsKept ? LXW_TRUE : LXW_FALSE;
    workbook_.reset(workbook_new_opt(file_.temporary_path().c_str(), &options));
    if (!workbook_) throw Error{output_, "cannot begin a workbook"};
    header_ = workbook_add_format(workbook_.get());
    format_set_bold(header_);
    format_set_border(header_, LXW_BORDER_THIN);
    format_set_align(header_, LXW_ALIGN_CENTER);
    format_set_align(header_, LXW_ALIGN_VERTICAL_TOP);
    set_properties(info);
    if (info.overview == nullptr) return;
    write_cover(workbook_.get(), info);
    names_.add(kCoverSheet);
  }

  void write(const Table& table) override {
    const std::size_t rows = table.rows(), columns = table.columns().size();
    if (rows >= kMaxRows || columns > kMaxColumns)
      throw Error{output_, "table '" + table.name() + "' has " + std::to_string(rows) +
                               " rows and " + std::to_string(columns) +
                               " columns, more than a sheet can hold; write it as CSV"};
    lxw_worksheet* sheet =
        workbook_add_worksheet(workbook_.get(), names_.add(sheet_name(table.name())).c_str());
    if (sheet == nullptr) throw Error{output_, "cannot add sheet '" + table.name() + "'"};
    if (columns == 0) return;

    const std::vector<SheetColumn> layout = layout_of(table);
    write_header(table, layout, sheet);
    std::vector<lxw_format*> formats;
    for (const Table::Column& column : table.columns())
      formats.push_back(format_for(number_format(column.spec())));
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t i = 0; i < columns; ++i)
        write_cell(sheet, table.columns()[i], row, i, formats[i]);

    worksheet_freeze_panes(sheet, 1, is_ours_ ? frozen_columns(table, layout) : 0);
    for (std::size_t i = 0; is_ours_ && rows > 0 && i < columns; ++i)
      if (const Table::Column& column = table.columns()[i];
          !layout[i].is_folded && has_bars(column))
        check(add_bars(sheet, 1, static_cast<lxw_row_t>(rows), static_cast<lxw_col_t>(i),
                       !are_parts(column)));
    check(worksheet_autofilter(sheet, 0, 0, static_cast<lxw_row_t>(rows),
                               static_cast<lxw_col_t>(columns - 1)));
  }

  void finish() override {
    look_for_room(kRoom);
    close_workbook(workbook_.release(), output_);  // closing frees it, whatever the outcome
    check_workbook(file_.temporary_path(), output_);
    file_.commit();
  }

 private:
  struct SheetColumn {
    double width = 0;
    bool is_folded = false;
  };
  struct FreeWorkbook {
    void operator()(lxw_workbook* workbook) const { lxw_workbook_free(workbook); }
  };

  void check(lxw_error error) const {
    if (error != LXW_NO_ERROR) throw Error{output_, lxw_strerror(error)};
  }

  void set_properties(const DocumentInfo& info) {
    std::string title = sheet_text(info.title, kMaxProperty),
                subject = sheet_text(info.subtitle, kMaxProperty);
    std::string made_by = sheet_text("TraceLens " + info.version, kMaxProperty), source;
    for (const std::string& line : info.source) source += line + "\n";
    source = sheet_text(source, kMaxProperty);
    lxw_doc_properties properties{};
    properties.title = title.data();
    properties.subject = subject.data();
    properties.author = made_by.data();
    properties.comments = source.data();
    check(workbook_set_properties(workbook_.get(), &properties));
  }

  lxw_format* format_for(std::string_view number_format) {
    for (const auto& [text, format] : number_formats_)
      if (text == number_format) return format;
    lxw_format* format = workbook_add_format(workbook_.get());
    format_set_num_format(format, number_format.data());
    number_formats_.emplace_back(number_format, format);
    return format;
  }

  [[nodiscard]] std::vector<SheetColumn> layout_of(const Table& table) const {
    std::vector<SheetColumn> layout;
    for (const Table::Column& column : table.columns())
      layout.push_back(
          {width_of(column), is_folded_ != nullptr && is_folded_(table, column.spec().name)});
    return layout;
  }

  // Those on the left up to the name, if the sheet is wide.
  static lxw_col_t frozen_columns(const Table& table, std::span<const SheetColumn> layout) {
    double total = 0, frozen_width = 0;
    for (const SheetColumn& column : layout) total += column.width;
    if (total <= kWideSheet) return 0;
    std::size_t frozen = 0;
    bool has_name = false;
    for (; frozen < layout.size() && !layout[frozen].is_folded; ++frozen) {
      const bool is_text = table.columns()[frozen].spec().kind == Kind::kText;
      frozen_width += layout[frozen].width;
      if (frozen_width > kMaxFrozen || (has_name && !is_text)) break;
      has_name = has_name || is_text;
    }
    return has_name ? static_cast<lxw_col_t>(frozen) : 0;
  }

  // Folded columns open by a click on the button above the column after them.
  void set_column(lxw_worksheet* sheet, std::span<const SheetColumn> layout, std::size_t i) const {
    const bool is_folded = i < layout.size() && layout[i].is_folded;
    const bool is_after_folded = is_ours_ && !is_folded && i > 0 && layout[i - 1].is_folded;
    if (i == layout.size() && !is_after_folded) return;
    lxw_row_col_options options{};
    options.hidden = is_folded ? LXW_TRUE : LXW_FALSE;
    options.level = is_folded && is_ours_ ? 1 : 0;
    options.collapsed = is_after_folded ? LXW_TRUE : LXW_FALSE;
    const auto at = static_cast<lxw_col_t>(i);
    const double width = i < layout.size() ? layout[i].width : LXW_DEF_COL_WIDTH;
    check(worksheet_set_column_opt(sheet, at, at, width, nullptr, &options));
  }

  void write_header(const Table& table, std::span<const SheetColumn> layout, lxw_worksheet* sheet) {
    for (std::size_t i = 0; i < table.columns().size(); ++i) {
      const Table::Column& column = table.columns()[i];
      const auto at = static_cast<lxw_col_t>(i);
      const std::string name = cell_text(column.spec().name);
      check(worksheet_write_string(sheet, 0, at, name.c_str(), header_));
      set_column(sheet, layout, i);
      write_note(column.spec(), sheet, at);
    }
    if (layout.size() < kMaxColumns) set_column(sheet, layout, layout.size());
  }

  static double width_of(const Table::Column& column) {
    const HumanFormat format{column};
    std::size_t widest = 0;
    for (std::size_t row = 0; row < std::min(column.size(), kRowsMeasured); ++row) {
      widest = std::max(widest, display_width(format(row)));
      if (static_cast<double>(widest) >= kMaxWidth) break;
    }
    const double header = static_cast<double>(display_width(column.spec().name)) + kFilterButton;
    return std::clamp(std::max(static_cast<double>(widest) + 1, header), kMinWidth, kMaxWidth);
  }

  void write_note(const ColumnSpec& spec, lxw_worksheet* sheet, lxw_col_t column) const {
    std::string note = spec.description;
    if (!spec.unit.empty() && spec.unit != "id") {
      if (!note.empty()) note += "\n";
      note.append("unit: ").append(spec.unit);
    }
    if (note.empty()) return;
    note = sheet_text(note, kMaxCellText);
    lxw_comment_options options{};
    options.x_scale = 2;
    check(worksheet_write_comment_opt(sheet, 0, column, note.c_str(), &options));
  }

  void write_cell(lxw_worksheet* sheet, const Table::Column& column, std::size_t row,
                  std::size_t column_index, lxw_format* format) {
    if (column.is_missing(row)) return;
    look_for_room(kBytesPerCell);
    const auto y = static_cast<lxw_row_t>(row + 1);
    const auto x = static_cast<lxw_col_t>(column_index);
    switch (column.spec().kind) {
      case Kind::kBool:
        return check(worksheet_write_boolean(sheet, y, x, static_cast<int>(column.integers()[row]),
                                             nullptr));
      case Kind::kInteger:
        if (const std::int64_t value = column.integers()[row];
            value <= kMaxExactInteger && value >= -kMaxExactInteger)
          return check(worksheet_write_number(sheet, y, x, static_cast<double>(value), format));
        break;  // as text it keeps all its digits
      case Kind::kReal:
        if (const double value = column.reals()[row]; std::isfinite(value))
          return check(worksheet_write_number(sheet, y, x, value, format));
        break;  // a sheet has no infinity
      case Kind::kText:
      case Kind::kNested:
        break;
    }
    const std::string text = cell_text(plain_text(column, row));
    look_for_room(4 * text.size());  // kept twice, while it is made longer by escapes
    check(worksheet_write_string(sheet, y, x, text.c_str(), nullptr));
  }

  // libxlsxwriter does not survive a failed allocation: so memory for what comes next is asked for,
  // and given back, ahead of it. Throws std::bad_alloc.
  void look_for_room(std::size_t bytes) {
    room_ -= std::min(room_, bytes);
    if (room_ >= kRoom) return;
    room_ = 2 * kRoom;
    ::operator delete(::operator new(room_ + bytes));
  }

  std::string output_;
  io::OutputFile file_;
  std::unique_ptr<lxw_workbook, FreeWorkbook> workbook_;
  lxw_format* header_ = nullptr;  // formats belong to the workbook
  std::vector<std::pair<std::string, lxw_format*>> number_formats_;
  UniqueNames names_{kMaxSheetName};
  bool (*is_folded_)(const Table& table, std::string_view column);
  std::size_t room_ = 0;  // that was found to be there
  bool is_ours_;          // else exactly a workbook of the Python TraceLens
};

}  // namespace

std::unique_ptr<Sink> make_xlsx_sink(const std::string& output, const DocumentInfo& info) {
  return std::make_unique<XlsxSink>(output, info);
}

}  // namespace tracelens
