// markdown.cpp: all tables as one GitHub-flavoured Markdown file, for merge requests and
// wikis.
#include <cctype>
#include <memory>
#include <string>
#include <string_view>
#include <tracelens/table_text.hpp>
#include <vector>

#include "io/output_file.hpp"
#include "report/sinks/sinks.hpp"
#include "table/utf8.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kLongestCell = 120;  // columns; a page does not wrap cells nicely

// Appends one line of text, with whatever Markdown would read as markup escaped. An underscore is
// markup only at the edge of a word, so the many inside op names stay readable.
void append_escaped(std::string& out, std::string_view raw) {
  const std::string text = single_line(raw);
  const auto is_word = [&text](std::size_t at) {
    return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool markup = std::string_view{"\\`*<|"}.find(c) != std::string_view::npos;
    const bool edge = c == '_' && !(is_word(i - 1) && is_word(i + 1));  // 0 - 1 is past the end
    if (markup || edge) out.push_back('\\');
    out.push_back(c);
  }
}

class MarkdownSink final : public Sink {
 public:
  MarkdownSink(const std::string& output, const DocumentInfo& info) : file_{output} {
    write_line("# ", info.title);
    write_paragraph(info.subtitle);
    if (!info.source.empty()) out_ += "\n";
    for (const std::string& line : info.source) write_line("- ", line);
    if (!info.version.empty()) write_paragraph("TraceLens " + info.version);
  }

  void write(const Table& table) override {
    write_line("\n## ", table.name());
    write_paragraph(table.description());
    write_header(table);

    std::vector<HumanFormat> formats;
    for (const Table::Column& column : table.columns()) formats.emplace_back(column);
    for (std::size_t row = 0; row < table.rows(); ++row) {
      out_ += "|";
      for (const HumanFormat& format : formats) {
        out_ += " ";
        append_escaped(out_, shorten(format(row), kLongestCell));
        out_ += " |";
      }
      out_ += "\n";
      flush();
    }
  }

  void finish() override {
    flush();
    file_.commit();
  }

 private:
  void write_line(std::string_view markup, std::string_view text) {
    out_ += markup;
    append_escaped(out_, text);
    out_ += "\n";
  }

  void write_paragraph(std::string_view text) {
    if (!text.empty()) write_line("\n", text);
  }

  void write_header(const Table& table) {
    out_ += "\n|";
    std::string rule = "|";
    for (const Table::Column& column : table.columns()) {
      const ColumnSpec& spec = column.spec();
      out_ += " ";
      append_escaped(out_, spec.name);
      if (const auto unit = shown_unit(spec); !unit.empty()) {
        out_ += " (";
        append_escaped(out_, unit);
        out_ += ")";
      }
      out_ += " |";
      rule += is_numeric(spec) ? " ---: |" : " --- |";
    }
    out_.append("\n").append(rule).append("\n");
  }

  void flush() {
    file_.write(out_);
    out_.clear();
  }

  io::OutputFile file_;
  std::string out_;  // what is not in the file yet
};

}  // namespace

std::unique_ptr<Sink> make_markdown_sink(const std::string& output, const DocumentInfo& info) {
  return std::make_unique<MarkdownSink>(output, info);
}

}  // namespace tracelens
