// markdown.cpp: the tables as one GitHub-flavoured Markdown file that fits into a comment on a pull
// request: where they are too long, their first rows, the tables a person reads first above all.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/table_text.hpp>
#include <vector>

#include "io/output_file.hpp"
#include "report/sinks/overview_tables.hpp"
#include "report/sinks/sinks.hpp"
#include "report/sinks/unique_names.hpp"
#include "table/markup.hpp"
#include "table/utf8.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kLongestCell = 120;  // columns; a page does not wrap cells nicely
constexpr std::size_t kLongestLine = 500;  // of text
// GitHub takes 65,536 characters. Bytes are counted, which are no fewer.
constexpr std::size_t kLongestDocument = 59'000, kLongestNote = 900;
constexpr std::size_t kFewestRows = 5;       // rather than fewer, a table is left out
constexpr std::size_t kFirstTableShare = 4;  // times the rows of another table

// Marks that take no column of their own must not make a line endless.
std::string limited(std::string_view text, std::size_t columns) {
  return std::string{cut_utf16(shorten(single_line(text), columns), 2 * columns)};
}

std::string escaped(std::string_view text) { return as_markdown(limited(text, kLongestLine)); }

// A table as Markdown, so that its last rows can be left out.
struct Section {
  std::string name, head;         // the head ends with the rule below the column names
  std::string rows;               // no more than can fit into the document
  std::vector<std::size_t> ends;  // of each row
  std::size_t all_rows = 0, columns = 0, all_columns = 0;

  [[nodiscard]] std::string_view first_rows(std::size_t shown) const {
    return std::string_view{rows}.substr(0, shown == 0 ? 0 : ends[shown - 1]);
  }

  [[nodiscard]] std::string note(std::size_t shown) const {
    std::string text;
    if (shown < all_rows) text = fmt::format("{} of {} rows", shown, all_rows);
    if (columns < all_columns)
      text += fmt::format("{}{} of {} columns", text.empty() ? "" : ", ", columns, all_columns);
    return text.empty() ? text : fmt::format("\n{}\n", text);
  }

  [[nodiscard]] std::size_t size(std::size_t shown) const {
    return head.size() + first_rows(shown).size() + note(shown).size();
  }
};

std::string header_of(std::span<const Table::Column* const> columns) {
  std::string names = "|", rule = "|";
  for (const Table::Column* const column : columns) {
    const ColumnSpec& spec = column->spec();
    names += " " + escaped(spec.name);
    if (const auto unit = shown_unit(spec); !unit.empty())
      names += fmt::format(" ({})", escaped(unit));
    names += " |";
    rule += is_numeric(spec) ? " ---: |" : " --- |";
  }
  return fmt::format("\n{}\n{}\n", names, rule);
}

Section section_of(const Table& table, std::string_view heading,
                   bool (*is_folded)(const Table& table, std::string_view column)) {
  Section section;
  section.name = table.name();
  section.all_rows = table.rows();
  section.head = fmt::format("\n{} {}\n", heading, escaped(table.name()));
  if (!table.description().empty())
    section.head += fmt::format("\n{}\n", escaped(table.description()));
  std::vector<const Table::Column*> columns;
  for (const Table::Column& column : table.columns())
    if (is_folded == nullptr || !is_folded(table, column.spec().name)) columns.push_back(&column);
  section.all_columns = table.columns().size();
  section.columns = columns.size();
  section.head += header_of(columns);
  std::vector<HumanFormat> formats;
  for (const Table::Column* const column : columns) formats.emplace_back(*column);
  for (std::size_t row = 0; row < table.rows() && section.rows.size() < kLongestDocument; ++row) {
    section.rows += "|";
    for (const HumanFormat& format : formats) {
      section.rows += " ";
      append_markdown(section.rows, limited(format(row), kLongestCell));
      section.rows += " |";
    }
    section.rows += "\n";
    section.ends.push_back(section.rows.size());
  }
  return section;
}

class MarkdownSink final : public Sink {
 public:
  MarkdownSink(const std::string& output, const DocumentInfo& info)
      : file_{output}, first_{info.first_tables}, is_folded_{info.is_folded} {
    out_ = fmt::format("# {}\n", escaped(info.title));
    write_paragraph(info.subtitle);
    if (!info.source.empty()) out_ += "\n";
    for (const std::string& line : info.source) write_line("- ", line);
    if (!info.version.empty()) write_paragraph("TraceLens " + info.version);
    if (info.overview != nullptr) write_overview(*info.overview);
  }

  void write(const Table& table) override {
    sections_.push_back(section_of(table, "##", is_folded_));
  }

  void finish() override {
    std::ranges::stable_sort(sections_, {}, [this](const Section& each) { return place(each); });
    const std::size_t all = sections_.size(), room = kLongestDocument - kLongestNote;
    // The largest number of rows with which all tables fit; where it is too small, fewer tables.
    std::size_t rows = kLongestDocument, tables = all;
    for (; tables > 0; --tables) {
      rows = most_rows(tables, room);
      if (rows >= kFewestRows) break;
    }
    bool is_whole = tables == all;
    for (std::size_t i = 0; i < tables; ++i) {
      const std::size_t shown = shown_rows(sections_[i], rows);
      out_.append(sections_[i].head).append(sections_[i].first_rows(shown));
      const std::string note = sections_[i].note(shown);
      is_whole = is_whole && note.empty();
      out_ += note;
    }
    if (!is_whole) write_note(tables);
    file_.write(out_);
    file_.commit();
  }

 private:
  // Where the table stands in the document: first tables in their order, then the others in theirs.
  [[nodiscard]] std::size_t place(const Section& section) const {
    return static_cast<std::size_t>(std::ranges::find(first_, section.name) - first_.begin());
  }

  [[nodiscard]] std::size_t shown_rows(const Section& section, std::size_t rows) const {
    const bool is_first = place(section) < first_.size();
    return std::min(section.ends.size(), is_first ? kFirstTableShare * rows : rows);
  }

  // With which the first `tables` fit into the room; 0: with none.
  [[nodiscard]] std::size_t most_rows(std::size_t tables, std::size_t room) const {
    const auto fits = [&](std::size_t rows) {
      std::size_t bytes = out_.size();
      for (const Section& section : std::span{sections_}.first(tables))
        bytes += section.size(shown_rows(section, rows));
      return bytes <= room;
    };
    std::size_t low = 0, high = kLongestDocument;  // a row has a byte
    while (low < high) {
      const std::size_t middle = (low + high + 1) / 2;
      if (fits(middle))
        low = middle;
      else
        high = middle - 1;
    }
    return low;
  }

  void write_note(std::size_t tables) {
    std::string left_out;
    std::size_t at = tables;
    for (; at < sections_.size() && left_out.size() < kLongestNote / 3; ++at)
      left_out += (at == tables ? "" : ", ") + limited(sections_[at].name, kLongestCell);
    if (at < sections_.size()) left_out += fmt::format(" and {} more", sections_.size() - at);
    if (!left_out.empty()) write_paragraph("Tables left out here: " + left_out + ".");
    write_paragraph(
        "Shortened to fit into a comment. Files that end in .html, .xlsx or .json and folders of CSV "
        "files (-o out/) hold all tables, rows and columns.");
  }

  void write_overview(const Overview& overview) {
    if (!overview.verdict.empty()) out_ += fmt::format("\n**{}**\n", escaped(overview.verdict));
    write_paragraph(overview.run);
    write_paragraph(overview.nothing_found);
    for (const Table& table : overview_tables(overview)) {
      const Section section = section_of(table, "###", nullptr);
      out_ += section.head + section.rows;
    }
    if (!overview.advice.empty()) write_line("\n### ", kAdviceTitle);
    for (const std::string& line : overview.advice)
      write_line(&line == &overview.advice.front() ? "\n1. " : "1. ", line);
    if (!overview.commands.empty()) out_ += "\nCommands:\n\n";
    // Indented lines are code: nothing in them is markup.
    for (const std::string& line : overview.commands)
      out_ += fmt::format("    {}\n", limited(line, kLongestLine));
  }

  void write_line(std::string_view markup, std::string_view text) {
    out_.append(markup).append(escaped(text)).append("\n");
  }

  void write_paragraph(std::string_view text) {
    if (!text.empty()) write_line("\n", text);
  }

  io::OutputFile file_;
  std::string out_;
  std::vector<Section> sections_;
  std::vector<std::string> first_;
  bool (*is_folded_)(const Table& table, std::string_view column);
};

}  // namespace

std::unique_ptr<Sink> make_markdown_sink(const std::string& output, const DocumentInfo& info) {
  return std::make_unique<MarkdownSink>(output, info);
}

}  // namespace tracelens
