// terminal.cpp: layout and drawing of a table as text.
#include <tracelens/table_text.hpp>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "io/ascii.hpp"
#include "table/shapes.hpp"
#include "table/short_names.hpp"
#include "table/utf8.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kGap = 2;  // between columns
// A wrapped header gets at least this much room, or where that makes room for a column, less.
constexpr std::size_t kHeaderWraps[] = {12, 8};
constexpr std::size_t kShortestText = 18;  // texts are not shortened below this
constexpr std::size_t kShortestName = 22;  // and what the rows are about not below this
constexpr std::size_t kShortestShapes = 18;
constexpr std::size_t kShortestLine = 40;  // a sentence that would get less stands below its row
constexpr std::size_t kIndent = 4;
constexpr std::size_t kBarWidth = 10;

constexpr std::string_view kBold = "\x1b[1m", kDim = "\x1b[2m", kCyan = "\x1b[36m";
constexpr std::string_view kPlain = "\x1b[0m";

enum class Shortening { kNever, kName, kWrap, kEnd };

// One column as it will be drawn.
struct DrawnColumn {
  const Table::Column* source = nullptr;
  std::string name, unit;
  std::vector<std::string> cells;
  std::size_t cell_width = 0;  // of the widest cell or the unit
  std::size_t width = 0;       // as drawn; set by fit()
  bool right = false;          // aligned to the right
  bool is_main = false;        // what the rows are about
  bool below = false;          // on lines of its own below each row
  Shortening shortening = Shortening::kNever;
  std::string_view colour;  // of the cells
};

bool has_shapes(const ColumnSpec& spec) { return spec.name.starts_with("Input Dims"); }

Shortening shortening_of(const ColumnSpec& spec) {
  if (spec.kind == Kind::kNested || has_shapes(spec)) return Shortening::kEnd;
  if (spec.kind != Kind::kText) return Shortening::kNever;
  return spec.unit == "text" ? Shortening::kWrap : Shortening::kName;
}

DrawnColumn drawn(const Table::Column& column, std::size_t rows) {
  const ColumnSpec& spec = column.spec();
  DrawnColumn result;
  result.source = &column;
  result.name = single_line(spec.name);
  result.unit = single_line(shown_unit(spec));
  result.right = is_numeric(spec);
  result.shortening = shortening_of(spec);
  result.cell_width = display_width(result.unit);
  const HumanFormat format{column};
  for (std::size_t row = 0; row < rows; ++row) {
    result.cells.push_back(format(row));
    if (has_shapes(spec))
      if (std::string shapes = shapes_text(result.cells.back()); !shapes.empty())
        result.cells.back() = std::move(shapes);
    result.cell_width = std::max(result.cell_width, display_width(result.cells.back()));
  }
  return result;
}

// Where the lines of a header may be broken, and of a sentence.
constexpr std::string_view kInHeaders = " _", kInSentences = " ";

// The pieces of a text: each ends with the character after which a line may be broken.
std::vector<std::string_view> pieces(std::string_view name, std::string_view breaks) {
  std::vector<std::string_view> result;
  while (!name.empty()) {
    const std::size_t size = std::min(name.find_first_of(breaks), name.size() - 1) + 1;
    result.push_back(name.substr(0, size));
    name.remove_prefix(size);
  }
  return result;
}

std::size_t longest_piece(std::string_view name) {
  std::size_t longest = 0;
  for (const std::string_view piece : pieces(name, kInHeaders))
    longest = std::max(longest, display_width(piece));
  return longest;
}

// The text in lines of at most `width`, all but the first one indented; a piece that is wider still
// is shortened.
std::vector<std::string> wrapped(std::string_view text, std::size_t width, std::string_view breaks,
                                 std::size_t indent = 0) {
  std::vector<std::string> lines{""};
  const std::string start_of_next(indent < width ? indent : 0, ' ');
  for (const std::string_view piece : pieces(text, breaks)) {
    const std::size_t blank = piece.ends_with(' ') ? 1 : 0;  // may stick out, nobody sees it
    const std::size_t indented = lines.size() > 1 ? start_of_next.size() : 0;
    if (lines.back().size() > indented &&
        display_width(lines.back()) + display_width(piece) - blank > width)
      lines.push_back(start_of_next);
    lines.back() += piece;
  }
  for (std::string& line : lines) {
    if (line.ends_with(' ')) line.pop_back();
    line = shorten(line, width);
  }
  return lines;
}

std::size_t shortest(const DrawnColumn& column) {
  const std::size_t narrow = column.is_main                           ? kShortestName
                             : column.shortening == Shortening::kWrap ? kShortestLine
                             : has_shapes(column.source->spec())      ? kShortestShapes
                                                                      : kShortestText;
  return std::max(std::min(narrow, column.cell_width), longest_piece(column.name));
}

std::size_t total_width(const std::vector<DrawnColumn>& columns) {
  std::size_t total = 0;
  for (const DrawnColumn& column : columns)
    if (!column.below) total += column.width + kGap;
  return total - std::min(total, kGap);
}

// Takes from the text with most to spare, again and again, until the table fits; false if texts
// would become too short to say anything. A single column takes whatever there is.
bool shorten_texts(std::vector<DrawnColumn>& columns, std::size_t available) {
  std::vector<DrawnColumn*> texts;
  const auto spare = [&](const DrawnColumn* column) {
    return column->width - std::min(column->width, columns.size() == 1 ? 1 : shortest(*column));
  };
  for (DrawnColumn& column : columns) {
    if (column.shortening == Shortening::kNever || column.below) continue;
    column.width = std::min(column.width, available);
    texts.push_back(&column);
  }
  for (std::size_t total = total_width(columns); total > available; --total) {
    const auto widest = std::ranges::max_element(texts, {}, spare);
    if (widest == texts.end() || spare(*widest) == 0) return false;
    --(*widest)->width;
  }
  return true;
}

// Sets the widths so that the table fits `available`; false if it cannot.
bool fit_in_lines(std::vector<DrawnColumn>& columns, std::size_t available) {
  for (DrawnColumn& column : columns)
    column.width = std::max(column.cell_width, display_width(column.name));
  if (available == 0 || total_width(columns) <= available) return true;
  for (const std::size_t wrap : kHeaderWraps) {
    for (DrawnColumn& column : columns) {
      const std::size_t header = std::max(wrap, longest_piece(column.name));
      column.width = std::max(column.cell_width, std::min(display_width(column.name), header));
    }
    if (shorten_texts(columns, available)) return true;
  }
  return false;
}

// The same; sentences that have no room in the line go below it.
bool fit(std::vector<DrawnColumn>& columns, std::size_t available) {
  for (DrawnColumn& column : columns) column.below = false;
  if (fit_in_lines(columns, available)) return true;
  for (DrawnColumn& column : columns)
    column.below = column.shortening == Shortening::kWrap && !column.is_main && columns.size() > 1;
  return fit_in_lines(columns, available);
}

bool is_running_sum(std::string_view name) {
  return name.starts_with("Cumulative") || name.starts_with("cumulative");
}

// Of columns about which nothing is known, those go first that say least: nested cells, then the
// spread of values whose sum or mean is shown, then the last ones. The first column stays.
std::size_t least_by_kind(const std::vector<DrawnColumn>& columns) {
  constexpr std::string_view kSpread[] = {"min", "max", "std", "stddev", "med", "median"};
  const auto worth = [&](const DrawnColumn& column) {
    if (column.source->spec().kind == Kind::kNested) return 0;
    if (is_running_sum(column.name)) return 1;
    const std::string name = io::lower_case(column.name);
    for (const std::string_view piece : pieces(name, kInHeaders))
      for (const std::string_view word : kSpread)
        if (piece.starts_with(word) && piece.size() <= word.size() + 1) return 1;
    return 2;
  };
  std::size_t least = columns.size() - 1;
  for (std::size_t i = columns.size() - 1; i > 0; --i)
    if (worth(columns[i]) < worth(columns[least])) least = i;
  return least;
}

// Which column goes first where there is no room for all of them; `important` has the most
// important first.
std::size_t least_column(const std::vector<DrawnColumn>& columns,
                         const std::vector<std::string_view>& important) {
  for (auto name = important.rbegin(); name != important.rend(); ++name)
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (columns[i].source->spec().name == *name && !columns[i].below) return i;
  return least_by_kind(columns);
}

// Those of the names that the table has; without any of them it is a table we know nothing about.
std::vector<std::string_view> known_columns(const Table& table,
                                            const std::vector<std::string_view>& names) {
  std::vector<std::string_view> known;
  for (const std::string_view name : names)
    if (table.has_column(name)) known.push_back(name);
  return known;
}

// A share of the whole as a bar, in eighths of a character.
std::string bar(double percent) {
  constexpr std::string_view kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double share = std::clamp(percent / 100, 0.0, 1.0);
  const auto eighths = static_cast<std::size_t>(std::lround(share * kBarWidth * 8));
  std::string out;
  for (std::size_t i = 0; i < eighths / 8; ++i) out += "█";
  out += kEighths[eighths % 8];
  return out;
}

DrawnColumn bars(const Table::Column& percents, std::size_t rows) {
  DrawnColumn result;
  result.width = kBarWidth;
  result.colour = kCyan;
  for (std::size_t row = 0; row < rows; ++row)
    result.cells.push_back(percents.is_missing(row) ? "" : bar(percents.reals()[row]));
  return result;
}

class Drawing {
 public:
  Drawing(const Table& table, const TerminalStyle& style)
      : table_{table},
        style_{style},
        rows_{style.max_rows == 0 ? table.rows() : std::min(table.rows(), style.max_rows)} {
    const std::vector<std::string_view> important = known_columns(table, style.columns);
    const auto is_wanted = [&](const Table::Column& column) {
      return important.empty() ||
             std::ranges::find(important, column.spec().name) != important.end();
    };
    for (const Table::Column& column : table.columns())
      if (is_wanted(column)) {
        columns_.push_back(drawn(column, rows_));
        columns_.back().is_main = !important.empty() && important.front() == column.spec().name;
      }
    while (!fit(columns_, style.width) && columns_.size() > 1)
      columns_.erase(columns_.begin() +
                     static_cast<std::ptrdiff_t>(least_column(columns_, important)));
    for (const Table::Column& column : table.columns())
      if (is_wanted(column) &&
          std::ranges::find(columns_, &column, &DrawnColumn::source) == columns_.end())
        left_out_.push_back(single_line(column.spec().name));
    for (const DrawnColumn& column : columns_)
      if (column.below) sentences_.push_back(column);
    std::erase_if(columns_, [](const DrawnColumn& column) { return column.below; });
    for (DrawnColumn& column : columns_)
      if (column.shortening == Shortening::kName)
        column.cells = short_names(column.cells, column.width);
    add_bars();
  }

  std::string text() {
    write_title();
    if (!columns_.empty()) write_header();
    for (std::size_t row = 0; row < rows_; ++row) write_row(row);
    write_notes();
    return std::move(out_);
  }

 private:
  // The first percent column gets bars when there is width to spare. A running sum says nothing as
  // a bar, so columns called "cumulative" have none.
  void add_bars() {
    if (style_.width != 0 && total_width(columns_) + kGap + kBarWidth > style_.width) return;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const Table::Column& column = *columns_[i].source;
      const ColumnSpec& spec = column.spec();
      if (spec.kind != Kind::kReal || spec.unit != "%" || is_running_sum(spec.name) ||
          is_change(spec))
        continue;
      columns_.insert(columns_.begin() + static_cast<std::ptrdiff_t>(i) + 1, bars(column, rows_));
      return;
    }
  }

  void write_title() {
    const std::string name = single_line(table_.name());
    put(name, kBold);
    const std::string description =
        fitted(single_line(table_.description()), display_width(name) + kGap);
    out_.append(kGap, ' ');
    put(description, kDim);
    end_line();
  }

  void write_header() {
    std::vector<std::vector<std::string>> names;
    std::size_t height = 0;
    for (const DrawnColumn& column : columns_) {
      names.push_back(wrapped(column.name, column.width, kInHeaders));
      height = std::max(height, names.back().size());
    }
    for (std::size_t line = 0; line < height; ++line) {
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        const std::size_t above = height - names[i].size();  // names stand on the last line
        put_aligned(i, line < above ? "" : names[i][line - above], kBold);
      }
      end_line();
    }
    write_units();
    std::string rule;
    for (std::size_t i = 0; i < total_width(columns_); ++i) rule += "─";
    put(rule, kDim);
    end_line();
  }

  void write_units() {
    const auto has_unit = [](const DrawnColumn& column) { return !column.unit.empty(); };
    if (std::ranges::none_of(columns_, has_unit)) return;
    for (std::size_t i = 0; i < columns_.size(); ++i) put_aligned(i, columns_[i].unit, kDim);
    end_line();
  }

  void write_row(std::size_t row) {
    std::vector<std::vector<std::string>> texts;
    std::size_t height = 1;
    for (const DrawnColumn& column : columns_) {
      const std::string& cell = column.cells[row];
      if (column.shortening == Shortening::kWrap)
        texts.push_back(wrapped(cell, column.width, kInSentences));
      else if (column.shortening == Shortening::kEnd)
        texts.push_back({shorten(cell, column.width)});
      else
        texts.push_back({cell});
      height = std::max(height, texts.back().size());
    }
    for (std::size_t line = 0; line < height; ++line) {
      for (std::size_t i = 0; i < columns_.size(); ++i)
        put_aligned(i, line < texts[i].size() ? texts[i][line] : "", columns_[i].colour);
      end_line();
    }
    for (const DrawnColumn& column : sentences_)
      if (!column.cells[row].empty()) write_sentence(column.cells[row]);
  }

  void write_sentence(const std::string& sentence) {
    const std::size_t width = style_.width - std::min(style_.width - 1, kIndent);
    for (const std::string& line : wrapped(sentence, width, kInSentences)) {
      out_.append(kIndent, ' ');
      put(line, kDim);
      end_line();
    }
  }

  void write_notes() {
    if (const std::size_t more = table_.rows() - rows_; more > 0)
      write_note("… " + with_separators(std::to_string(more)) +
                 (more == 1 ? " more row" : " more rows"));
    if (left_out_.empty()) return;
    std::string names;
    for (const std::string& name : left_out_) names += (names.empty() ? "" : ", ") + name;
    write_note("… no room for: " + names);
  }

  void write_note(const std::string& text) {
    for (const std::string& line :
         style_.width == 0 ? std::vector{text} : wrapped(text, style_.width, kInSentences)) {
      put(line, kDim);
      end_line();
    }
  }

  // What of `text` has room on a line on which `used` columns are taken.
  [[nodiscard]] std::string fitted(const std::string& text, std::size_t used) const {
    if (style_.width == 0) return text;
    return shorten(text, style_.width - std::min(style_.width, used));
  }

  void put(std::string_view text, std::string_view code) {
    const bool styled = style_.colour && !code.empty() && !text.empty();
    if (styled) out_ += code;
    out_ += text;
    if (styled) out_ += kPlain;
  }

  void put_aligned(std::size_t column, std::string_view text, std::string_view code) {
    const std::size_t width = columns_[column].width;
    const std::size_t blank = width - std::min(width, display_width(text));
    if (column > 0) out_.append(kGap, ' ');
    if (columns_[column].right) out_.append(blank, ' ');
    put(text, code);
    if (!columns_[column].right) out_.append(blank, ' ');
  }

  void end_line() {
    while (out_.ends_with(' ')) out_.pop_back();
    out_.push_back('\n');
  }

  const Table& table_;
  const TerminalStyle& style_;
  std::size_t rows_;  // that are shown
  std::vector<DrawnColumn> columns_, sentences_;
  std::vector<std::string> left_out_;
  std::string out_;
};

}  // namespace

std::string render_terminal(const Table& table, const TerminalStyle& style) {
  return Drawing{table, style}.text();
}

std::string wrapped_text(std::string_view text, std::size_t width, std::size_t indent) {
  if (width == 0) return std::string{text};
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    for (const std::string& line : wrapped(text.substr(0, end), width, kInSentences, indent))
      out.append(line).push_back('\n');
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace tracelens
