// diagnose: causes, what each costs, what proves it, what to try.
#include <fmt/format.h>

#include <algorithm>
#include <tracelens/diagnose.hpp>

#include "mcp/clean_text.hpp"
#include "mcp/tool.hpp"

namespace tracelens::mcp {
namespace {

constexpr std::string_view kTiers[] = {"system", "fusion", "compute"};

constexpr Argument kDiagnoseArguments[] = {
    {.name = "tier", .kind = ArgumentKind::kChoice, .words = kTiers},
    {.name = "limit", .kind = ArgumentKind::kInteger, .least = 1, .most = 100, .otherwise = 10},
};

// By the family of the rule: GEMM-1 is about single ops, FUSE-1 about kernels that could be one; the
// rest is about the run: host, data, communication, memory.
std::string_view tier_of(std::string_view rule) {
  const std::string_view family = rule.substr(0, rule.find('-'));
  for (const std::string_view each : {"FUSE", "CAST", "LAY", "ELEM"})
    if (family == each) return "fusion";
  for (const std::string_view each :
       {"GEMM", "ATTN", "CONV", "MOE", "NORM", "RED", "SOFT", "TRI", "EMB", "UNM"})
    if (family == each) return "compute";
  return "system";
}

double milliseconds(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }

Value evidence_of(const Finding& finding) {
  std::vector<Value> all;
  for (const Evidence& each : finding.evidence) {
    Members key;
    for (const auto& [column, text] : each.key) key.emplace_back(column, clean_text(text));
    all.push_back(object({{"table", each.table},
                          {"key", object(std::move(key))},
                          {"column", clean_text(each.column)},
                          {"value", each.value},
                          {"unit", each.unit},
                          {"derived", each.is_derived}}));
  }
  return array(std::move(all));
}

Value places_of(const Finding& finding) {
  constexpr std::size_t kPlaces = 3;
  std::vector<Value> all;
  for (const FindingPlace& each : finding.where) {
    if (all.size() == kPlaces) break;
    Members place{{"kind", each.kind},
                  {"name", shortened(clean_text(each.name), kQuotedInSentence)}};
    for (const auto& [key, text] :
         {std::pair{"shape", &each.shape}, {"module", &each.module}, {"python", &each.python}})
      if (!text->empty()) place.emplace_back(key, shortened(clean_text(*text), kQuotedInSentence));
    place.emplace_back("ms", milliseconds(each.time_ns));
    place.emplace_back("count", each.count);
    all.push_back(object(std::move(place)));
  }
  return array(std::move(all));
}

std::vector<std::string> names_in(const Finding& finding) {
  std::vector<std::string> names;
  for (const FindingPlace& each : finding.where)
    for (const std::string* text : {&each.name, &each.module, &each.python, &each.shape})
      names.push_back(*text);
  for (const Evidence& each : finding.evidence)
    for (const auto& [column, text] : each.key) names.push_back(text);
  // "mean" is the key of a row and a word of ours.
  std::erase_if(names, [](const std::string& name) { return name.size() < 8; });
  return names;
}

std::string finding_line(const std::vector<Value>& row) {
  const auto text = [&](std::size_t column) {
    std::string plain;
    for (const char c : row[column].as_text()) plain += c == '`' ? '\'' : c;
    return plain;
  };
  const auto json_or_cut = [&](std::size_t column) {
    std::string json = row[column].is_text() ? text(column) : compact_json(row[column]);
    std::ranges::replace(json, '`', '\'');
    return json;
  };
  std::string line = fmt::format(
      "{}. {} {} [{}, {}, confidence {}] saves {:.4g} ms ({:.4g} to {:.4g} alone), {:.4g} %\n   {}\n",
      row[0].as_int(), text(1), text(4), text(2), text(3), text(9), row[6].as_real(),
      row[7].as_real(), row[8].as_real(), row[10].as_real(), text(5));
  for (const Value& action : row[11].items()) {
    std::string plain = action.as_text();
    std::ranges::replace(plain, '`', '\'');
    line += fmt::format("   try: {}\n", plain);
  }
  if (row[11].is_text()) line += fmt::format("   try: {}\n", text(11));  // cut to fit
  if (!row[12].is_null()) line += fmt::format("   where: {}\n", json_or_cut(12));
  if (!row[13].is_null()) line += fmt::format("   evidence: {}\n", json_or_cut(13));
  line.pop_back();
  return line;
}

Answer findings_of(const Diagnosis& diagnosis, const std::string& tier) {
  Answer answer;
  answer.grid.columns = {{.name = "rank"},
                         {.name = "id"},
                         {.name = "tier"},
                         {.name = "severity"},
                         {.name = "title"},
                         {.name = "sentence", .from_trace = true, .is_sentence = true},
                         {.name = "gain_ms", .unit = "ms"},
                         {.name = "gain_low_ms", .unit = "ms"},
                         {.name = "gain_high_ms", .unit = "ms"},
                         {.name = "confidence"},
                         {.name = "percent", .unit = "%"},
                         {.name = "action", .is_sentence = true},
                         {.name = "where", .from_trace = true, .is_sentence = true},
                         {.name = "evidence", .from_trace = true, .is_sentence = true}};
  answer.row_line = finding_line;
  answer.fewest_columns = 11;  // without action, where and evidence
  std::int64_t rank = 0;
  for (const Finding& finding : diagnosis.findings) {
    ++rank;
    const std::string_view its_tier = tier_of(finding.id);
    if (!tier.empty() && its_tier != tier) continue;
    std::vector<Value> actions;
    for (const std::string& each : finding.tries) actions.emplace_back(clean_sentence(each));
    answer.grid.rows.push_back(
        {rank, finding.id, text_value(its_tier), text_value(severity_name(finding.severity)),
         clean_sentence(finding.title), with_quoted_names(finding.verdict, names_in(finding)),
         milliseconds(finding.saving_ns), milliseconds(finding.alone.low_ns),
         milliseconds(finding.alone.high_ns), text_value(confidence_name(finding.confidence)),
         finding.saving_percent, array(std::move(actions)), places_of(finding),
         evidence_of(finding)});
  }
  // What is first mended, in our words: the verdict of the diagnosis may name ranges of the program.
  const double busy = milliseconds(diagnosis.gpu_busy_ns),
               idle = milliseconds(diagnosis.gpu_idle_ns);
  answer.lead = fmt::format(
      "Window of {:.4g} ms as recorded, {:.4g} ms without the profiler, {} steps. GPU busy {:.4g} ms, "
      "idle {:.4g} ms. All findings together save {:.4g} ms.\n",
      milliseconds(diagnosis.length_ns), milliseconds(diagnosis.corrected_ns),
      diagnosis.steps.size(), busy, idle, milliseconds(diagnosis.saving_all_ns));
  std::vector<Value> path;
  answer.lead += "Critical path:";
  for (const auto& [kind, ns] : diagnosis.path) {
    path.push_back(object({{"kind", kind}, {"ms", milliseconds(ns)}}));
    answer.lead += fmt::format(" {} {:.4g} ms", clean_sentence(kind), milliseconds(ns));
  }
  answer.lead += "\n\n";
  answer.title = "Findings, in the order in which they are best mended";
  for (const QualityNote& note : diagnosis.quality)
    answer.notes.push_back(fmt::format("{}: {}", note.id, quoted_note(note.text)));
  if (diagnosis.below_minimum > 0)
    answer.notes.push_back(fmt::format("{} more save less than 1 %", diagnosis.below_minimum));
  answer.more = {{"window_ms", milliseconds(diagnosis.length_ns)},
                 {"corrected_ms", milliseconds(diagnosis.corrected_ns)},
                 {"busy_ms", busy},
                 {"idle_ms", idle},
                 {"saving_all_ms", milliseconds(diagnosis.saving_all_ns)},
                 {"critical_path", array(std::move(path))}};
  return answer;
}

Value run_diagnose(Call& call) {
  const TraceStore::Lease desk = call.open_trace();
  return call.paged_result([&] { return findings_of(desk->diagnosis(), call.text("tier")); });
}

Members diagnose_output() {
  return {{"saving_all_ms", type_schema("number")}, {"critical_path", type_schema("array")}};
}

}  // namespace

const Tool kDiagnoseTool{
    .name = "diagnose",
    .title = "Diagnosis",
    .description =
        "What slows the run down, in the order to mend it: gain, what to try, evidence. "
        "Tiers: system (host, data, communication), fusion, compute. Use it after summary; "
        "not for raw figures.",
    .arguments = {kDiagnoseArguments, trace_arguments()},
    .more_output = diagnose_output,
    .run = run_diagnose};

}  // namespace tracelens::mcp
