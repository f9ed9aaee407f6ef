// A diagnosis as a page of Markdown or HTML: the same parts in the same order as on the terminal.
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <tracelens/diagnose.hpp>

#include "diagnosis/kit/figures.hpp"
#include "report/recipes/diagnosis_documents.hpp"
#include "report/recipes/diagnosis_words.hpp"
#include "table/markup.hpp"

namespace tracelens {
namespace {

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --line: #8884; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem 1.5rem; }
.verdict { font-size: 1.25rem; font-weight: 600; }
.saves { float: right; font-weight: 400; font-size: 1rem; }
section { border-top: 1px solid var(--line); padding-top: .3rem; }
h2 { font-size: 1.1rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
td, th { border-bottom: 1px solid var(--line); padding: .15rem .6rem; text-align: left; }
td.n { text-align: right; }
.muted { opacity: .75; }
)";

// What differs between the two languages.
struct Markdown {
  static std::string safe(std::string_view text) { return as_markdown(text); }
  static std::string begin(const Diagnosis&) { return "# Diagnosis\n"; }
  static std::string end() { return {}; }
  static std::string verdict(std::string_view text) { return fmt::format("\n**{}**\n", text); }
  static std::string paragraph(std::string_view text) { return fmt::format("\n{}\n", text); }
  static std::string section(std::size_t number, std::string_view id, std::string_view title,
                             std::string_view saves) {
    return fmt::format("\n### {}. {} — {}\n\n*{}*\n", number, id, title, saves);
  }
  static std::string end_section() { return {}; }
  static std::string begin_table() { return "\n| evidence | value |\n| --- | ---: |\n"; }
  static std::string row(std::string_view name, std::string_view value) {
    return fmt::format("| {} | {} |\n", name, value);
  }
  static std::string end_table() { return {}; }
  static std::string begin_list(std::string_view title) { return fmt::format("\n{}:\n\n", title); }
  static std::string item(std::string_view text) { return fmt::format("- {}\n", text); }
  static std::string end_list() { return {}; }
};

struct Html {
  static std::string safe(std::string_view text) { return as_markup(text); }
  static std::string begin(const Diagnosis& diagnosis) {
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width\">\n<title>Diagnosis: {}</title>\n"
        "<style>{}</style>\n</head>\n<body>\n<h1>Diagnosis</h1>\n",
        diagnosis.files.empty() ? std::string{} : as_markup(diagnosis.files.front()), kStyle);
  }
  static std::string end() { return "</body>\n</html>\n"; }
  static std::string verdict(std::string_view text) {
    return fmt::format("<p class=\"verdict\">{}</p>\n", text);
  }
  static std::string paragraph(std::string_view text) { return fmt::format("<p>{}</p>\n", text); }
  static std::string section(std::size_t number, std::string_view id, std::string_view title,
                             std::string_view saves) {
    return fmt::format(
        "<section id=\"{1}\">\n<h2><span class=\"saves\">{3}</span>{0}. {1} — {2}</h2>\n", number,
        id, title, saves);
  }
  static std::string end_section() { return "</section>\n"; }
  static std::string begin_table() { return "<table>\n"; }
  static std::string row(std::string_view name, std::string_view value) {
    return fmt::format("<tr><td>{}</td><td class=\"n\">{}</td></tr>\n", name, value);
  }
  static std::string end_table() { return "</table>\n"; }
  static std::string begin_list(std::string_view title) {
    return fmt::format("<p>{}:</p>\n<ul>\n", title);
  }
  static std::string item(std::string_view text) { return fmt::format("<li>{}</li>\n", text); }
  static std::string end_list() { return "</ul>\n"; }
};

template <class Language>
std::string finding_in(const Diagnosis& diagnosis, std::size_t number) {
  const Finding& finding = diagnosis.findings[number - 1];
  const auto safe = [](std::string_view text) { return Language::safe(text); };
  std::string page = Language::section(number, safe(finding.id), safe(finding.title),
                                       safe(headline(diagnosis, finding)));
  page += Language::paragraph(safe(finding.verdict));
  if (!finding.evidence.empty()) {
    page += Language::begin_table();
    for (const Evidence& row : finding.evidence)
      page += Language::row(safe(place_of(row)), safe(figure(row.value, row.unit)));
    page += Language::end_table();
  }
  const auto list = [&](std::string_view title, const auto& items, const auto& text_of_item) {
    if (items.empty()) return;
    page += Language::begin_list(title);
    for (const auto& item : items) page += Language::item(safe(text_of_item(item)));
    page += Language::end_list();
  };
  list("Where", finding.where, [](const FindingPlace& place) { return text_of(place); });
  if (!finding.formula.empty())
    page += Language::paragraph("Estimate: " + safe(estimate_of(finding)));
  list("Try", finding.tries, [](const std::string& text) { return text; });
  if (!finding.verify.column.empty())
    page += Language::paragraph("Verify: " + safe(check_of(finding)));
  return page + Language::end_section();
}

template <class Language>
std::string page_in(const Diagnosis& diagnosis) {
  const auto safe = [](std::string_view text) { return Language::safe(text); };
  std::string page = Language::begin(diagnosis);
  page += Language::verdict(safe(diagnosis.verdict));
  for (const std::string& text : {run_of(diagnosis), gpu_time_of(diagnosis), path_of(diagnosis)})
    if (!text.empty()) page += Language::paragraph(safe(text));
  if (!diagnosis.quality.empty()) {
    page += Language::begin_list("About the trace");
    for (const QualityNote& note : diagnosis.quality)
      page += Language::item(safe(note.id + ": " + note.text));
    page += Language::end_list();
  }
  for (std::size_t i = 0; i < diagnosis.findings.size(); ++i)
    page += finding_in<Language>(diagnosis, i + 1);
  if (const std::string end = closing_of(diagnosis, diagnosis.findings.size()); !end.empty())
    page += Language::paragraph(safe(end));
  return page + Language::end();
}

}  // namespace

std::string diagnosis_markdown(const Diagnosis& diagnosis) { return page_in<Markdown>(diagnosis); }
std::string diagnosis_html(const Diagnosis& diagnosis) { return page_in<Html>(diagnosis); }

}  // namespace tracelens
