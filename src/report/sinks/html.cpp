// html.cpp: all tables as one self-contained page that opens from a mail attachment, offline.
// Without its script the page is complete; with it, columns sort and rows can be searched.
#include <fmt/format.h>

#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <tracelens/table_text.hpp>
#include <utility>
#include <vector>

#include "io/output_file.hpp"
#include "report/sinks/overview_tables.hpp"
#include "report/sinks/sinks.hpp"
#include "table/markup.hpp"
#include "table/utf8.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kLongestShown = 100;  // columns; the whole text shows under the pointer

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --line: #8884; --head: #8882; --accent: #2a6fdb; }
body { font: 14px/1.45 system-ui, sans-serif; margin: 0 auto; max-width: 110rem; padding: 1rem 1.5rem; }
h1 { margin-bottom: .2rem; }
nav { display: flex; flex-wrap: wrap; gap: .3rem .9rem; margin: 1rem 0; }
a { color: var(--accent); }
details { border: 1px solid var(--line); border-radius: 6px; margin: .8rem 0; padding: .5rem .8rem; }
summary { cursor: pointer; }
summary b { font-size: 1.1rem; }
.muted { opacity: .7; }
h2 { font-size: 1.05rem; margin-bottom: .3rem; }
.verdict { font-size: 1.3rem; font-weight: 600; margin: 1rem 0 0; }
.scroll { max-height: 32rem; overflow: auto; margin-top: .5rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid var(--line); padding: .2rem .6rem; text-align: left; white-space: nowrap; }
th { background: Canvas linear-gradient(var(--head), var(--head)); cursor: pointer; position: sticky; top: 0; }
th[aria-sort=ascending]::after { content: " \2191"; }
th[aria-sort=descending]::after { content: " \2193"; }
tbody tr:hover { background: var(--head); }
.n { text-align: right; }
input { font: inherit; padding: .25rem .5rem; width: 22rem; max-width: 100%; }
)";

constexpr std::string_view kScript = R"(
const number = cell => cell.dataset.v === undefined ? NaN : Number(cell.dataset.v);
function sortBy(head) {
  const table = head.closest('table'), body = table.tBodies[0], at = head.cellIndex;
  const down = head.getAttribute('aria-sort') !== 'descending';
  const numeric = head.classList.contains('n');
  for (const other of head.parentNode.cells) other.removeAttribute('aria-sort');
  head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
  const compare = (a, b) => {
    const x = a.cells[at], y = b.cells[at];
    if (!numeric) return down ? y.textContent.localeCompare(x.textContent) : x.textContent.localeCompare(y.textContent);
    const p = number(x), q = number(y);
    if (isNaN(p) || isNaN(q)) return isNaN(p) - isNaN(q);  // missing cells stay last
    return down ? q - p : p - q;
  };
  body.append(...[...body.rows].sort(compare));
}
document.addEventListener('click', event => {
  const head = event.target.closest('th');
  if (head) sortBy(head);
});
document.getElementById('find').addEventListener('input', event => {
  const wanted = event.target.value.toLowerCase();
  for (const row of document.querySelectorAll('details tbody tr'))
    row.hidden = !row.textContent.toLowerCase().includes(wanted);
});
)";

// The number by which a row is sorted; the shown one is rounded and has separators.
void append_sort_value(std::string& out, const Table::Column& column, std::size_t row) {
  if (column.is_missing(row)) return;
  if (column.spec().kind == Kind::kReal)
    fmt::format_to(std::back_inserter(out), " data-v=\"{}\"", column.reals()[row]);
  else
    fmt::format_to(std::back_inserter(out), " data-v=\"{}\"", column.integers()[row]);
}

class HtmlSink final : public Sink {
 public:
  HtmlSink(const std::string& output, const DocumentInfo& info) : file_{output} {
    head_ = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width\">\n<title>{0}</title>\n"
        "<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n",
        as_markup(info.title), kStyle);
    if (!info.subtitle.empty()) paragraph(info.subtitle);
    for (const std::string& line : info.source) paragraph(line);
    if (!info.version.empty()) paragraph("TraceLens " + info.version);
    if (info.overview != nullptr) write_overview(*info.overview);
  }

  // The table of contents stands before the tables, so these wait for the last one.
  void write(const Table& table) override {
    const std::string name = as_markup(table.name());
    contents_ += fmt::format("<a href=\"#{0}\">{0}</a>\n", name);
    body_ += fmt::format("<details open id=\"{0}\"><summary><b>{0}</b> ", name);
    append_markup(body_, table.description());
    body_ += fmt::format(" <span class=\"muted\">{} {}</span></summary>\n<div class=\"scroll\">",
                         table.rows(), table.rows() == 1 ? "row" : "rows");
    write_table(table);
    body_ += "</div></details>\n";
  }

  void finish() override {
    file_.write(head_);
    file_.write(
        "<p><input id=\"find\" type=\"search\" placeholder=\"Show rows that contain …\" "
        "aria-label=\"Show rows that contain\"></p>\n<nav>\n");
    file_.write(contents_);
    file_.write("</nav>\n");
    file_.write(body_);
    file_.write("<script>");
    file_.write(kScript);
    file_.write("</script>\n</body>\n</html>\n");
    file_.commit();
  }

 private:
  void paragraph(std::string_view text) {
    head_ += fmt::format("<div class=\"muted\">{}</div>\n", as_markup(text));
  }

  // Stands in the head, before the list of contents.
  void write_overview(const Overview& overview) {
    body_ = fmt::format("<section id=\"overview\">\n<p class=\"verdict\">{}</p>\n<p>{}</p>\n",
                        as_markup(overview.verdict), as_markup(overview.run));
    if (!overview.nothing_found.empty())
      body_ += fmt::format("<p>{}</p>\n", as_markup(overview.nothing_found));
    for (const Table& table : overview_tables(overview)) {
      body_ += fmt::format("<h2>{}</h2>\n", as_markup(table.name()));
      write_table(table);
    }
    if (!overview.advice.empty()) body_ += fmt::format("<h2>{}</h2>\n<ol>\n", kAdviceTitle);
    for (const std::string& line : overview.advice)
      body_ += fmt::format("<li>{}</li>\n", as_markup(line));
    if (!overview.advice.empty()) body_ += "</ol>\n";
    if (!overview.commands.empty()) body_ += "<pre>\n";
    for (const std::string& line : overview.commands) body_ += as_markup(line) + "\n";
    if (!overview.commands.empty()) body_ += "</pre>\n";
    head_ += std::exchange(body_, {}) + "</section>\n";
  }

  void write_table(const Table& table) {
    body_ += "<table>\n<thead><tr>";
    std::vector<HumanFormat> formats;
    for (const Table::Column& column : table.columns()) {
      formats.emplace_back(column);
      write_header(column.spec());
    }
    body_ += "</tr></thead>\n<tbody>\n";
    for (std::size_t row = 0; row < table.rows(); ++row) {
      body_ += "<tr>";
      for (std::size_t i = 0; i < formats.size(); ++i)
        write_cell(table.columns()[i], row, formats[i](row));
      body_ += "</tr>\n";
    }
    body_ += "</tbody></table>\n";
  }

  void write_header(const ColumnSpec& spec) {
    body_ += is_numeric(spec) ? "<th class=\"n\" title=\"" : "<th title=\"";
    append_markup(body_, spec.description);
    body_ += "\">";
    append_markup(body_, spec.name);
    if (const auto unit = shown_unit(spec); !unit.empty()) {
      body_ += " (";
      append_markup(body_, unit);
      body_ += ")";
    }
    body_ += "</th>";
  }

  void write_cell(const Table::Column& column, std::size_t row, const std::string& text) {
    body_ += "<td";
    if (is_numeric(column.spec())) {
      body_ += " class=\"n\"";
      append_sort_value(body_, column, row);
    }
    const std::string shown = shorten(text, kLongestShown);
    if (shown.size() != text.size()) {
      body_ += " title=\"";
      append_markup(body_, text);
      body_ += "\"";
    }
    body_ += ">";
    append_markup(body_, shown);
    body_ += "</td>";
  }

  io::OutputFile file_;
  std::string head_, contents_, body_;
};

}  // namespace

std::unique_ptr<Sink> make_html_sink(const std::string& output, const DocumentInfo& info) {
  return std::make_unique<HtmlSink>(output, info);
}

}  // namespace tracelens
