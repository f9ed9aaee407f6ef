// A diagnosis written: as the document its name asks for, and held against gates.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <tracelens/diagnose.hpp>
#include <tracelens/error.hpp>
#include <tracelens/files.hpp>
#include <tracelens/sinks.hpp>
#include <tracelens/version.hpp>
#include <utility>

#include "analysis/compare/gates.hpp"
#include "diagnosis/kit/figures.hpp"
#include "io/ascii.hpp"
#include "report/recipes/diagnosis_documents.hpp"
#include "report/recipes/diagnosis_words.hpp"

namespace tracelens {
namespace {

constexpr std::string_view kFindingPrefix = "finding:";

std::string extension_of(const std::string& output) {
  return io::lower_case(std::filesystem::path{output}.extension().string());
}

// Which findings a gate is about; throws Error.
std::pair<Gate, std::string> parse_finding_gate(const std::string& text) {
  constexpr std::string_view kExpected =
      "expected 'saving > 10%' about all findings or 'finding:SYNC-* > 2%' about some";
  Gate gate = parse_gate(text, kExpected);
  const bool is_plain = gate.sheets == std::vector<std::string>{"gpu_timeline"};
  if (is_plain && gate.name == "saving") return {std::move(gate), "*"};
  if (is_plain && gate.name.starts_with(kFindingPrefix)) {
    std::string pattern = gate.name.substr(kFindingPrefix.size());
    const Table rules = rule_list();
    if (std::ranges::none_of(rules.column("rule").texts(),
                             [&](const std::string& id) { return matches_pattern(pattern, id); }))
      throw Error{fmt::format("gate '{}'", text),
                  "no rule is called so; tracelens diagnose --list-rules shows them all"};
    return {std::move(gate), std::move(pattern)};
  }
  throw Error{fmt::format("gate '{}'", text), std::string{kExpected}};
}

GateOutcome check(const Diagnosis& diagnosis, const std::string& text) {
  const auto [gate, pattern] = parse_finding_gate(text);
  GateOutcome outcome{.gate = gate.text};
  if (diagnosis.gpu_busy_ns == 0) {  // a gate that nothing was held against is not passed
    outcome.passed = false;
    outcome.summary = "the trace has no GPU work";
    outcome.evidence = {diagnosis.verdict};
    return outcome;
  }
  const Finding* closest = nullptr;
  const auto sentence = [&](const Finding& finding) {
    return fmt::format("{} {}: {} ({:.4g}%)", finding.id, finding.title, ms_text(finding.saving_ns),
                       finding.saving_percent);
  };
  for (const Finding& finding : diagnosis.findings) {
    if (!matches_pattern(pattern, finding.id)) continue;
    const double ms = in_ms(finding.saving_ns);
    if (ms < gate.min_ms) continue;
    if ((gate.is_percent ? finding.saving_percent : ms) > gate.limit)
      outcome.evidence.push_back(sentence(finding));
    else if (closest == nullptr || finding.saving_ns > closest->saving_ns)
      closest = &finding;
  }
  outcome.passed = outcome.evidence.empty();
  outcome.summary = closest == nullptr ? "no such finding" : sentence(*closest);
  return outcome;
}

Table findings_table(const Diagnosis& diagnosis) {
  const ColumnSpec columns[] = {
      {"place", Kind::kInteger, "", "in the order in which they are best mended"},
      {"finding", Kind::kText, "", "id of the rule"},
      {"title", Kind::kText, "", "what is the matter"},
      {"severity", Kind::kText, "",
       "by the saving: critical from 20%, major from 5%, minor from 1%"},
      {"saving ms", Kind::kReal, "ms", "in the window, once the findings before it are mended"},
      {"saving per step ms", Kind::kReal, "ms", "the same of a step, where steps are known"},
      {"saving", Kind::kReal, "%", "the same, of the window without the profiler"},
      {"alone low ms", Kind::kReal, "ms", "this one mended and no other, at least"},
      {"alone ms", Kind::kReal, "ms", "this one mended and no other"},
      {"alone high ms", Kind::kReal, "ms", "this one mended and no other, at most"},
      {"GPU saving ms", Kind::kReal, "ms", "GPU time that goes away"},
      {"confidence", Kind::kText, "", "in the saving: high, medium or low"},
      {"one-off", Kind::kBool, "", "seen in fewer than half of the steps: not counted"},
      {"locked by", Kind::kText, "", "what hides it until it is mended"},
      {"verdict", Kind::kText, "text", "what proves it"},
      {"try", Kind::kText, "text", "what to do, the least effort first"},
      {"verify", Kind::kText, "text", "what must change"},
  };
  Table table{"findings", "What costs time, and what mending it saves", columns};
  for (std::size_t i = 0; i < diagnosis.findings.size(); ++i) {
    const Finding& finding = diagnosis.findings[i];
    const auto per_step = per_step_ns(diagnosis, finding.saving_ns);
    table.add_row(i + 1, finding.id, finding.title, severity_name(finding.severity),
                  in_ms(finding.saving_ns), per_step ? Cell{in_ms(*per_step)} : Cell{kMissing},
                  finding.saving_percent, in_ms(finding.alone.low_ns), in_ms(finding.alone.mid_ns),
                  in_ms(finding.alone.high_ns), in_ms(finding.gpu_saving_ns),
                  confidence_name(finding.confidence), finding.is_one_off,
                  finding.locked_by.empty() ? Cell{kMissing} : Cell{finding.locked_by},
                  finding.verdict, fmt::format("{}", fmt::join(finding.tries, "; ")),
                  finding.verify.column.empty() ? std::string{} : check_of(finding));
  }
  return table;
}

Table evidence_table(const Diagnosis& diagnosis) {
  const ColumnSpec columns[] = {
      {"finding", Kind::kText, "", "id of the rule"},
      {"table", Kind::kText, "", "table the number stands in, or is derived from"},
      {"key", Kind::kText, "", "its row"},
      {"column", Kind::kText, "", "its column, or what it is"},
      {"value", Kind::kReal, "", "the number"},
      {"unit", Kind::kText, "", "its unit"},
      {"derived", Kind::kBool, "", "no table has the number: it is worked out"},
  };
  Table table{"finding_evidence", "The numbers that prove the findings", columns};
  for (const Finding& finding : diagnosis.findings)
    for (const Evidence& row : finding.evidence) {
      std::string key;
      for (const auto& [column, value] : row.key)
        key += fmt::format("{}{}={}", key.empty() ? "" : ", ", column, value);
      table.add_row(finding.id, row.table, key, row.column, row.value, row.unit, row.is_derived);
    }
  return table;
}

Table places_table(const Diagnosis& diagnosis) {
  const ColumnSpec columns[] = {
      {"finding", Kind::kText, "", "id of the rule"},
      {"kind", Kind::kText, "", "op, kernel, call, range or module"},
      {"name", Kind::kText, "", "what it is called in the trace"},
      {"python", Kind::kText, "", "line of the program, where stacks were recorded"},
      {"module", Kind::kText, "", "nn.Module around it"},
      {"shape", Kind::kText, "", "of its arguments"},
      {"time ms", Kind::kReal, "ms", "what it took in the window"},
      {"count", Kind::kInteger, "", "how often"},
  };
  Table table{"finding_places", "Where in the program the findings are", columns};
  const auto cell = [](const std::string& text) {
    return text.empty() ? Cell{kMissing} : Cell{text};
  };
  for (const Finding& finding : diagnosis.findings)
    for (const FindingPlace& place : finding.where)
      table.add_row(finding.id, place.kind, place.name, cell(place.python), cell(place.module),
                    cell(place.shape), in_ms(place.time_ns), place.count);
  return table;
}

}  // namespace

Table quality_table(std::span<const QualityNote> notes) {
  const ColumnSpec columns[] = {{"id", Kind::kText, "", "id of the check"},
                                {"text", Kind::kText, "text", "what to know about the trace"}};
  Table table{"trace_quality", "What to know before believing the findings", columns};
  for (const QualityNote& note : notes) table.add_row(note.id, note.text);
  return table;
}

std::vector<Table> diagnosis_tables(const Diagnosis& diagnosis) {
  std::vector<Table> tables;
  tables.push_back(findings_table(diagnosis));
  tables.push_back(evidence_table(diagnosis));
  tables.push_back(places_table(diagnosis));
  tables.push_back(quality_table(diagnosis.quality));
  return tables;
}

void check_diagnosis_output(const std::string& output) {
  std::error_code ignored;
  const bool is_folder = output.ends_with('/') || std::filesystem::is_directory(output, ignored);
  const std::string extension = extension_of(output);
  if (is_folder || extension == ".txt") return;
  constexpr std::string_view kKinds[] = {".json", ".md", ".html", ".xlsx"};
  if (std::ranges::find(kKinds, extension) == std::end(kKinds))
    throw Error{output,
                "unknown kind of output; expected a name ending in .json, .md, .html, .txt, .xlsx, "
                "or a folder for CSV files (ending in /)"};
  check_sink(output);
}

void write_diagnosis(const Diagnosis& diagnosis, const std::string& output) {
  const std::string extension = extension_of(output);
  if (extension == ".json") return write_text_file(output, diagnosis_json(diagnosis));
  if (extension == ".md") return write_text_file(output, diagnosis_markdown(diagnosis));
  if (extension == ".html") return write_text_file(output, diagnosis_html(diagnosis));
  if (extension == ".txt")
    return write_text_file(output, diagnosis_text(diagnosis, {.top = diagnosis.findings.size()}));
  write_tables(diagnosis_tables(diagnosis), output,
               {.title = "TraceLens diagnosis",
                .subtitle = diagnosis.verdict,
                .source = diagnosis.files,
                .version = kVersion});
}

std::vector<GateOutcome> check_gates(const Diagnosis& diagnosis,
                                     std::span<const std::string> gates) {
  std::vector<GateOutcome> outcomes;
  for (const std::string& gate : gates) outcomes.push_back(check(diagnosis, gate));
  return outcomes;
}

void check_gate_texts(std::span<const std::string> gates) {
  for (const std::string& gate : gates) (void)parse_finding_gate(gate);
}

}  // namespace tracelens
