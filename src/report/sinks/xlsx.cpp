// xlsx.cpp: one workbook, one sheet per table, ready to sort and filter.
// The header row is frozen and filtered, and a note on each header cell says what the column means;
// names stay in sight on wide sheets, shares have bars, columns that are seldom read are folded.
// Sheets are cut into blocks of rows, which all threads write and pack.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/error.hpp>
#include <tracelens/table_text.hpp>
#include <utility>
#include <vector>

#include "io/ascii.hpp"
#include "io/gzip_pieces.hpp"
#include "io/output_file.hpp"
#include "io/parallel.hpp"
#include "io/threads.hpp"
#include "report/sinks/sinks.hpp"
#include "report/sinks/unique_names.hpp"
#include "report/sinks/xlsx_cover.hpp"
#include "report/sinks/xlsx_text.hpp"
#include "report/xlsx/notes.hpp"
#include "report/xlsx/sheet.hpp"
#include "report/xlsx/styles.hpp"
#include "report/xlsx/workbook.hpp"
#include "table/utf8.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kCellsPerBlock = 2'000;  // about 80 KB of text
constexpr std::size_t kSmallSheet = 20'000;    // bytes that are not worth more than a fast packer
constexpr std::size_t kPieceBytes = std::size_t{4}
                                    << 20;  // of text at a time, however long the cells

// Excel's own limits.
constexpr std::size_t kMaxRows = 1'048'576, kMaxColumns = 16'384;
constexpr std::size_t kMaxSheetName = 31, kMaxProperty = 255;
constexpr std::int64_t kMaxExactInteger = std::int64_t{1} << 53;  // numbers are doubles

constexpr std::size_t kRowsMeasured = 200;  // for the width of a column
constexpr double kMinWidth = 8, kMaxWidth = 60, kFilterButton = 3, kUsualWidth = 8.43;
// Names stay in sight where a sheet is wider than a screen, as far as they leave room for the rest.
constexpr double kWideSheet = 120, kMaxFrozen = 70;

std::string sheet_name(std::string_view table_name) {
  std::string name = sheet_text(table_name, kMaxCellText);
  for (char& c : name)
    if (std::string_view{"[]:*?/\\'\n\t"}.find(c) != std::string_view::npos) c = '_';
  // Excel keeps "History" for itself, in any case.
  if (name.empty() || io::lower_case(name) == "history") name += "_";
  return name;
}

// How Excel shows a column's numbers; the cells keep every digit.
std::string_view number_format(const ColumnSpec& spec) {
  if (spec.kind == Kind::kInteger) return spec.unit == "id" ? "0" : "#,##0";
  if (spec.kind != Kind::kReal || spec.unit.empty()) return {};
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

double width_of(const Table::Column& column) {
  const HumanFormat format{column};
  std::size_t widest = 0;
  for (std::size_t row = 0; row < std::min(column.size(), kRowsMeasured); ++row) {
    widest = std::max(widest, display_width(format(row)));
    if (static_cast<double>(widest) >= kMaxWidth) break;
  }
  const double header = static_cast<double>(display_width(column.spec().name)) + kFilterButton;
  return std::clamp(std::max(static_cast<double>(widest) + 1, header), kMinWidth, kMaxWidth);
}

// Those on the left up to the name, if the sheet is wide.
std::size_t frozen_columns(const Table& table, std::span<const xlsx::Column> layout) {
  double total = 0, frozen_width = 0;
  for (const xlsx::Column& column : layout) total += column.width;
  if (total <= kWideSheet) return 0;
  std::size_t frozen = 0;
  bool has_name = false;
  for (; frozen < layout.size() && !layout[frozen].is_hidden; ++frozen) {
    const bool is_text = table.columns()[frozen].spec().kind == Kind::kText;
    frozen_width += layout[frozen].width;
    if (frozen_width > kMaxFrozen || (has_name && !is_text)) break;
    has_name = has_name || is_text;
  }
  return has_name ? frozen : 0;
}

std::vector<xlsx::Note> notes_of(const Table& table) {
  std::vector<xlsx::Note> notes;
  for (std::size_t i = 0; i < table.columns().size() && notes.size() < xlsx::kMostNotes; ++i) {
    const ColumnSpec& spec = table.columns()[i].spec();
    std::string note = spec.description;
    if (!spec.unit.empty() && spec.unit != "id") {
      if (!note.empty()) note += "\n";
      note.append("unit: ").append(spec.unit);
    }
    if (!note.empty()) notes.push_back({i, sheet_text(note, kMaxCellText)});
  }
  return notes;
}

void write_cell(xlsx::Cells& cells, const Table::Column& column, std::size_t row, std::size_t at,
                unsigned style) {
  if (column.is_missing(row)) return;
  switch (column.spec().kind) {
    case Kind::kBool:
      return cells.truth(at, column.integers()[row] != 0);
    case Kind::kInteger:
      if (const std::int64_t value = column.integers()[row];
          value <= kMaxExactInteger && value >= -kMaxExactInteger)
        return cells.integer(at, value, style);
      break;  // as text it keeps all its digits
    case Kind::kReal:
      if (const double value = column.reals()[row]; std::isfinite(value))
        return cells.number(at, value, style);
      break;  // a sheet has no infinity
    case Kind::kText:
    case Kind::kNested:
      break;
  }
  if (const std::string text = cell_text(plain_text(column, row)); !text.empty())
    cells.text(at, text, xlsx::kPlain);
}

class XlsxSink final : public Sink {
 public:
  XlsxSink(const std::string& output, const DocumentInfo& info)
      : file_{output},
        info_{info},
        is_ours_{info.edition == Edition::kExtended},
        header_{styles_.number_of({.is_bold = true,
                                   .lines = xlsx::Style::Lines::kAround,
                                   .place = xlsx::Style::Place::kTopCentre})} {
    if (info.overview == nullptr) return;
    sheets_.push_back(cover_sheet(info, styles_));
    plans_.emplace_back();
    names_.add(kCoverSheet);
  }

  void write(const Table& table) override {
    const std::size_t rows = table.rows(), columns = table.columns().size();
    if (rows >= kMaxRows || columns > kMaxColumns)
      throw Error{file_.path(), "table '" + table.name() + "' has " + std::to_string(rows) +
                                    " rows and " + std::to_string(columns) +
                                    " columns, more than a sheet can hold; write it as CSV"};
    Plan plan{.table = &table, .styles = {}, .is_folded = {}, .notes = notes_of(table)};
    for (const Table::Column& column : table.columns()) {
      plan.styles.push_back(styles_.number_of({.number_format = number_format(column.spec())}));
      plan.is_folded.push_back(info_.is_folded != nullptr &&
                               info_.is_folded(table, column.spec().name));
    }
    xlsx::Sheet sheet{
        .name = names_.add(sheet_name(table.name())), .xml = {}, .notes = {}, .note_shapes = {}};
    if (columns > 0) sheet.filter = xlsx::Area{0, 0, rows, columns - 1};
    plans_.push_back(std::move(plan));
    sheets_.push_back(std::move(sheet));
  }

  void finish() override {
    const Table empty{"Sheet1", "", {}};  // a workbook has at least one
    if (sheets_.empty()) write(empty);
    std::vector<Block> blocks;
    for (std::size_t i = 0; i < plans_.size(); ++i)
      if (plans_[i].table != nullptr) cut_into_blocks(i, blocks);
    io::for_each_part(io::thread_count(info_.threads), blocks.size(),
                      [&](std::size_t i) { write_block(blocks[i]); });
    for (Block& block : blocks)
      std::ranges::move(block.pieces, std::back_inserter(sheets_[block.sheet].xml));
    xlsx::write_workbook(file_, sheets_, styles_, properties());
    file_.commit();
  }

 private:
  struct Plan {
    const Table* table = nullptr;  // none: the cover, which is ready
    std::vector<unsigned> styles;  // of columns, as the next
    std::vector<bool> is_folded;
    std::vector<xlsx::Note> notes;
  };
  // Rows of a sheet that are written together; the first of them has the header too.
  struct Block {
    std::size_t sheet = 0, begin = 0, end = 0;
    std::vector<io::GzipPiece> pieces = {};
  };

  void cut_into_blocks(std::size_t sheet, std::vector<Block>& blocks) {
    const Table& table = *plans_[sheet].table;
    const std::size_t most =
        std::max<std::size_t>(1, kCellsPerBlock / std::max<std::size_t>(1, table.columns().size()));
    for (std::size_t begin = 0; begin == 0 || begin < table.rows(); begin += most)
      blocks.push_back({sheet, begin, std::min(begin + most, table.rows())});
  }

  void write_block(Block& block) {
    const Plan& plan = plans_[block.sheet];
    const Table& table = *plan.table;
    const auto columns = table.columns();
    std::string xml;
    if (block.begin == 0) xml = begin_sheet(block.sheet);
    xlsx::Cells cells{xml, columns.size()};
    if (block.begin == 0 && !columns.empty()) {
      cells.begin_row(0);
      for (std::size_t i = 0; i < columns.size(); ++i)
        cells.text(i, cell_text(columns[i].spec().name), header_);
      cells.end_row();
    }
    for (std::size_t row = block.begin; row < block.end; ++row) {
      cells.begin_row(row + 1);
      for (std::size_t i = 0; i < columns.size(); ++i) {
        write_cell(cells, columns[i], row, i, plan.styles[i]);
        if (xml.size() >= kPieceBytes) pack(xml, block.pieces);
      }
      cells.end_row();
    }
    if (block.end == table.rows()) xml += end_sheet(block.sheet);
    pack(xml, block.pieces);
  }

  static void pack(std::string& xml, std::vector<io::GzipPiece>& pieces) {
    io::GzipPacker packer{xml.size() < kSmallSheet ? io::Packing::kFast : io::Packing::kSmall};
    pieces.push_back(packer.pack(xml));
    xml.clear();
  }

  // The text before the first row; and the notes, which need to know the widths of columns as well.
  std::string begin_sheet(std::size_t number) {
    const Plan& plan = plans_[number];
    xlsx::Sheet& sheet = sheets_[number];
    xlsx::SheetHead head{.columns = layout_of(plan),
                         .used = sheet.filter,
                         .frozen_rows = sheet.filter ? 1U : 0U,
                         .is_first = number == 0};
    if (is_ours_) head.frozen_columns = frozen_columns(*plan.table, head.columns);
    if (!plan.notes.empty()) {
      io::GzipPacker packer;  // fast: small texts, and as many as there are sheets
      sheet.notes.push_back(packer.pack(xlsx::notes_xml(plan.notes)));
      sheet.note_shapes.push_back(
          packer.pack(xlsx::note_shapes_xml(plan.notes, head.columns, number + 1)));
    }
    return sheet_head(head);
  }

  [[nodiscard]] std::string end_sheet(std::size_t number) const {
    const Table& table = *plans_[number].table;
    xlsx::SheetTail tail{.number = number + 1,
                         .filter = sheets_[number].filter,
                         .has_notes = !plans_[number].notes.empty()};
    for (std::size_t i = 0; is_ours_ && table.rows() > 0 && i < table.columns().size(); ++i)
      if (const Table::Column& column = table.columns()[i];
          !plans_[number].is_folded[i] && has_bars(column))
        tail.bars.push_back({{1, i, table.rows(), i}, !are_parts(column)});
    return sheet_tail(tail);
  }

  // Folded columns open by a click on the button above the column after them.
  [[nodiscard]] std::vector<xlsx::Column> layout_of(const Plan& plan) const {
    std::vector<xlsx::Column> layout;
    for (std::size_t i = 0; i < plan.is_folded.size(); ++i) {
      const bool hidden = plan.is_folded[i], after = i > 0 && layout[i - 1].is_folded;
      layout.push_back({.width = width_of(plan.table->columns()[i]),
                        .is_hidden = hidden,
                        .is_folded = hidden && is_ours_,
                        .has_button = after && !hidden});
    }
    if (!layout.empty() && layout.back().is_folded && layout.size() < kMaxColumns)
      layout.push_back({.width = kUsualWidth, .has_button = true});
    return layout;
  }

  [[nodiscard]] xlsx::Properties properties() const {
    std::string source;
    for (const std::string& line : info_.source) source += line + "\n";
    return {.title = sheet_text(info_.title, kMaxProperty),
            .subject = sheet_text(info_.subtitle, kMaxProperty),
            .author = sheet_text("TraceLens " + info_.version, kMaxProperty),
            .comments = sheet_text(source, kMaxProperty)};
  }

  io::OutputFile file_;
  const DocumentInfo info_;
  bool is_ours_;  // else exactly a workbook of the Python TraceLens
  xlsx::Styles styles_;
  unsigned header_;
  UniqueNames names_{kMaxSheetName};
  std::vector<Plan> plans_;  // one for each sheet
  std::vector<xlsx::Sheet> sheets_;
};

}  // namespace

std::unique_ptr<Sink> make_xlsx_sink(const std::string& output, const DocumentInfo& info) {
  return std::make_unique<XlsxSink>(output, info);
}

}  // namespace tracelens
