// html.cpp: all tables and pictures as one self-contained page that opens from a mail attachment,
// offline. Without script it shows what matters most: the verdict and the first tables.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <tracelens/table_text.hpp>
#include <vector>

#include "io/output_file.hpp"
#include "report/page/document.hpp"
#include "report/sinks/overview_json.hpp"
#include "report/sinks/overview_tables.hpp"
#include "report/sinks/sinks.hpp"
#include "table/markup.hpp"
#include "table/utf8.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kLongestShown = 100;      // columns
constexpr std::size_t kTables = 6, kRows = 20;  // that a reader without script sees

// The page for a reader without script.
class PlainPage {
 public:
  explicit PlainPage(const DocumentInfo& info) : info_{info} {}

  std::string markup(const std::vector<const Table*>& tables) {
    out_ = fmt::format("<h1>{}</h1>\n", as_markup(info_.title));
    paragraph(info_.subtitle);
    for (const std::string& line : info_.source) paragraph(line);
    if (info_.overview != nullptr) write_overview(*info_.overview);
    std::size_t left = kTables;
    for (const Table* const table : tables) {
      if (left == 0) break;
      if (!is_among_first(*table)) continue;
      write_table(*table);
      --left;
    }
    paragraph("This page needs a browser with script for its pictures and for all of its tables.");
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool is_among_first(const Table& table) const {
    return info_.first_tables.empty() ||
           std::ranges::find(info_.first_tables, table.name()) != info_.first_tables.end();
  }

  void paragraph(std::string_view text) {
    if (!text.empty()) out_ += fmt::format("<p>{}</p>\n", as_markup(text));
  }

  void write_overview(const Overview& overview) {
    paragraph(overview.verdict);
    paragraph(overview.run);
    paragraph(overview.nothing_found);
    for (const Table& table : overview_tables(overview)) write_table(table);
    if (!overview.advice.empty()) out_ += fmt::format("<h2>{}</h2>\n", kAdviceTitle);
    for (const std::string& line : overview.advice) paragraph(line);
  }

  void write_table(const Table& table) {
    out_ += fmt::format("<h2>{}</h2>\n", as_markup(table.name()));
    paragraph(table.description());
    out_ += "<table>\n<thead><tr>";
    std::vector<const Table::Column*> columns;
    for (const Table::Column& column : table.columns())
      if (info_.is_folded == nullptr || !info_.is_folded(table, column.spec().name))
        columns.push_back(&column);
    std::vector<HumanFormat> formats;
    for (const Table::Column* const column : columns) {
      formats.emplace_back(*column);
      const std::string_view unit = shown_unit(column->spec());
      out_ += fmt::format("<th>{}{}</th>", as_markup(column->spec().name),
                          unit.empty() ? std::string{} : fmt::format(" ({})", as_markup(unit)));
    }
    out_ += "</tr></thead>\n<tbody>\n";
    for (std::size_t row = 0; row < std::min(table.rows(), kRows); ++row) {
      out_ += "<tr>";
      for (const HumanFormat& format : formats)
        out_ += fmt::format("<td>{}</td>", as_markup(shorten(format(row), kLongestShown)));
      out_ += "</tr>\n";
    }
    out_ += "</tbody></table>\n";
    if (table.rows() > kRows)
      paragraph(fmt::format("The first {} of {} rows.", kRows, table.rows()));
  }

  const DocumentInfo& info_;
  std::string out_;
};

class HtmlSink final : public Sink {
 public:
  HtmlSink(const std::string& output, const DocumentInfo& info) : file_{output}, info_{info} {}

  void write(const Table& table) override { tables_.push_back(&table); }

  void finish() override {
    const PageContent content{
        .title = info_.title,
        .subtitle = info_.subtitle,
        .version = info_.version,
        .verb = info_.verb,
        .source = info_.source,
        .overview_json = info_.overview != nullptr ? overview_json(*info_.overview) : "null",
        .without_script = PlainPage{info_}.markup(tables_),
        .page = info_.page,
        .tables = tables_,
        .is_folded = info_.is_folded,
        .threads = info_.threads};
    file_.write(page_document(content));
    file_.commit();
  }

 private:
  io::OutputFile file_;
  DocumentInfo info_;
  std::vector<const Table*> tables_;
};

}  // namespace

std::unique_ptr<Sink> make_html_sink(const std::string& output, const DocumentInfo& info) {
  return std::make_unique<HtmlSink>(output, info);
}

}  // namespace tracelens
