// A diagnosis as text for a terminal or a file: at most as wide as asked for, texts of the trace
// made safe.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <tracelens/diagnose.hpp>
#include <tracelens/printed_text.hpp>
#include <vector>

#include "diagnosis/kit/figures.hpp"
#include "report/recipes/diagnosis_words.hpp"
#include "table/utf8.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kIndent = 4;

class TextPage {
 public:
  explicit TextPage(std::size_t width)
      : width_{width == 0 ? 100 : std::max<std::size_t>(width, 40)} {}

  // Broken between words; the lines after the first begin further to the right.
  void text(std::size_t indent, std::string_view words, std::size_t hanging = 0) {
    const std::string safe = single_line(words);
    std::string line(indent, ' ');
    bool is_empty = true;
    for (std::size_t at = 0; at < safe.size();) {
      const std::size_t end = std::min(safe.find(' ', at), safe.size());
      const std::string_view word = std::string_view{safe}.substr(at, end - at);
      if (!is_empty && display_width(line) + 1 + display_width(word) > width_) {
        put(line);
        line.assign(indent + hanging, ' ');
        is_empty = true;
      }
      if (!is_empty) line += ' ';
      line += is_empty ? shorten_middle(word, width_ - std::min(width_ - 1, line.size())) : word;
      is_empty = false;
      at = end + 1;
      while (at < safe.size() && safe[at] == ' ') line += safe[at++];
    }
    put(line);
  }
  // One line with a part that stands at the right edge, or below where there is no room.
  void edges(std::string_view left, std::string_view right) {
    const std::size_t used = display_width(left) + display_width(right);
    if (used + 2 <= width_)
      put(fmt::format("{}{}{}", left, std::string(width_ - used, ' '), right));
    else
      put(left), put(std::string(kIndent, ' ') + std::string{right});
  }
  void blank() { out_ += '\n'; }
  [[nodiscard]] std::size_t width() const { return width_; }
  std::string take() { return std::move(out_); }

 private:
  void put(std::string_view line) {
    while (line.ends_with(' ')) line.remove_suffix(1);
    out_ += shorten(line, width_);
    out_ += '\n';
  }
  std::size_t width_;
  std::string out_;
};

// Values stand below each other, behind the longest name that leaves them room; a longer name is
// broken between words.
void write_evidence(TextPage& page, const Finding& finding) {
  constexpr std::size_t kApart = 2;
  std::size_t widest_value = 0, wide = 0;
  std::vector<std::string> names, values;
  for (const Evidence& row : finding.evidence) {
    names.push_back(single_line(place_of(row)));
    values.push_back(figure(row.value, row.unit));
    widest_value = std::max(widest_value, display_width(values.back()));
  }
  const std::size_t taken = kIndent + 2 + kApart + widest_value;
  for (const std::string& name : names)
    if (taken + display_width(name) <= page.width()) wide = std::max(wide, display_width(name));
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::size_t own = display_width(names[i]);
    page.text(kIndent + 2,
              names[i] + std::string(kApart + (own < wide ? wide - own : 0), ' ') + values[i], 4);
  }
}

void write_finding(TextPage& page, const Diagnosis& diagnosis, std::size_t number) {
  const Finding& finding = diagnosis.findings[number - 1];
  page.edges(fmt::format("{:>2}  {:<8} {}", number, finding.id, single_line(finding.title)),
             headline(diagnosis, finding));
  page.text(kIndent, finding.verdict);
  write_evidence(page, finding);
  for (const FindingPlace& place : finding.where)
    page.text(kIndent + 2, "where  " + text_of(place), 7);
  if (!finding.formula.empty()) page.text(kIndent, "estimate  " + estimate_of(finding), 10);
  for (std::size_t i = 0; i < finding.tries.size(); ++i)
    page.text(kIndent, (i == 0 ? "try       " : "          ") + finding.tries[i], 10);
  if (!finding.verify.column.empty()) page.text(kIndent, "verify    " + check_of(finding), 10);
}

}  // namespace

std::string diagnosis_text(const Diagnosis& diagnosis, const DiagnosisStyle& style) {
  TextPage page{style.width};
  page.text(0, "tracelens diagnose  " + run_of(diagnosis), 2);
  if (const std::string gpu = gpu_time_of(diagnosis); !gpu.empty()) page.text(2, gpu, 2);
  if (const std::string path = path_of(diagnosis); !path.empty()) page.text(2, path, 2);
  page.text(0, diagnosis.verdict, 2);
  if (!diagnosis.quality.empty()) page.blank();
  for (const QualityNote& note : diagnosis.quality)
    page.text(0,
              fmt::format("{:<8} {:<6} {}", &note == &diagnosis.quality.front() ? "quality" : "",
                          note.id, note.text),
              16);
  const std::size_t shown = std::min(style.top, diagnosis.findings.size());
  for (std::size_t i = 0; i < shown; ++i) {
    page.blank();
    write_finding(page, diagnosis, i + 1);
  }
  page.blank();
  page.text(0, closing_of(diagnosis, shown), 2);
  return page.take();
}

}  // namespace tracelens
