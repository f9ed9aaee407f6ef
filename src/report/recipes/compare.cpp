// The comparison of reports as a document, and the gates on it.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <tracelens/compare.hpp>
#include <tracelens/error.hpp>
#include <tracelens/version.hpp>
#include <utility>

#include "analysis/compare/gates.hpp"
#include "analysis/compare/sheets.hpp"
#include "analysis/compare/times.hpp"
#include "analysis/diff/merge.hpp"
#include "analysis/diff/ops.hpp"
#include "analysis/kit/cells.hpp"
#include "io/output_file.hpp"
#include "report/recipes/compare_input.hpp"
#include "report/sinks/sink.hpp"
#include "table/utf8.hpp"

namespace tracelens {
namespace {

std::vector<std::string> tags_of(const std::vector<std::string>& inputs,
                                 const CompareOptions& options) {
  if (inputs.size() < 2) throw Error{"compare", "Need at least two report files"};
  if (!options.names.empty() && options.names.size() != inputs.size())
    throw Error{"--names", "--names count must equal number of reports"};
  std::vector<std::string> tags = options.names;
  if (tags.empty() && options.edition == Edition::kExtended) tags = distinct_tags(inputs);
  if (tags.empty()) std::ranges::transform(inputs, std::back_inserter(tags), default_tag);
  if (std::set<std::string>(tags.begin(), tags.end()).size() != tags.size())
    throw Error{"compare", "Tags must be unique – use --names to disambiguate."};
  return tags;
}

std::vector<Gate> parse_gates(const std::vector<std::string>& texts) {
  std::vector<Gate> gates;
  for (const std::string& text : texts) gates.push_back(parse_gate(text));
  return gates;
}

void check_groups(const std::vector<std::string>& groups) {
  for (const std::string& group : groups)
    if (std::ranges::find(compare_groups(), group) == compare_groups().end())
      throw Error{"--sheets", fmt::format("there is no group {}; expected {}", group,
                                          fmt::join(compare_groups(), ", "))};
}

bool shows(std::string_view sheet, const CompareOptions& options) {
  return std::ranges::any_of(options.sheets, [&](const std::string& group) {
    return is_compared(sheet, group, options.edition);
  });
}

// What explains the difference between two traces, by their call trees. Nothing when one has no
// ops, or ops whose names are made by a compiler.
std::optional<TimedSheet> explain_by_trees(const Trace& first, const Trace& second,
                                           std::span<const ComparedReport> reports) {
  constexpr std::size_t kLongestSide = 60;  // of the name of an exchange
  if (first.source().recorder == Recorder::kJax || second.source().recorder == Recorder::kJax)
    return std::nullopt;
  const Tree tree1 = build_tree(first), tree2 = build_tree(second);
  if (tree1.op_roots().empty() || tree2.op_roots().empty()) return std::nullopt;
  const MergedTree merged = merge_trees(first, tree1, second, tree2, Edition::kExtended);
  TimedSheet sheet{.sheet = "ops_summary",
                   .description = "What explains the difference of GPU time, the largest first"};
  for (const ChangePart& part : change_parts({first, tree1, second, tree2, merged})) {
    TimedRow row{.name = part.name, .ms = {std::nullopt, std::nullopt}};
    for (const std::size_t side : {0U, 1U})
      if (part.kernels[side] > 0) row.ms[side] = ms(part.ns[side]);
    if (part.name.empty()) {
      row.name =
          exchange_name(shorten(part.removed, kLongestSide), shorten(part.added, kLongestSide));
      row.note = part.count == 1 ? "replaced" : fmt::format("replaced, {} times", part.count);
    }
    sheet.rows.push_back(std::move(row));
  }
  pair_exchanges(sheet, reports);
  return sheet;
}

}  // namespace

bool Comparison::passed() const { return std::ranges::all_of(gates, &GateOutcome::passed); }

Comparison compare_reports(const std::vector<std::string>& inputs, const CompareOptions& options) {
  // Mistakes in flags show before anything large is read.
  const std::vector<std::string> tags = tags_of(inputs, options);
  const std::vector<Gate> gates = parse_gates(options.gates);
  check_groups(options.sheets);

  // Two traces are kept: their call trees tell what took the place of what.
  const bool is_extended = options.edition == Edition::kExtended;
  const bool by_trees = is_extended && inputs.size() == 2 && shows("ops_summary", options);
  std::vector<ComparedReport> reports;
  std::vector<Trace> traces;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    ComparedInput input = read_compared(inputs[i], tags[i], options);
    reports.push_back(std::move(input.report));
    if (by_trees && input.trace) traces.push_back(*std::move(input.trace));
  }
  if (is_extended) unify_timelines(reports);

  Comparison result;
  result.report.edition = options.edition;
  result.report.title = fmt::format("Comparison of {}", fmt::join(tags, ", "));
  result.report.trace_name = fmt::format("{}", fmt::join(inputs, ", "));
  result.report.tables = compare_sheets(
      reports, {.groups = options.sheets, .edition = options.edition}, result.report.warnings);
  for (const Gate& gate : gates) result.gates.push_back(check_gate(gate, reports));
  std::optional<TimedSheet> changes;
  if (traces.size() == 2) changes = explain_by_trees(traces[0], traces[1], reports);
  if (!changes) changes = explain_change(reports);
  result.conclusion = conclusion(reports, changes ? &*changes : nullptr);
  const std::string finest = changes ? changes->sheet : std::string{};
  if (changes && shows(finest, options)) {
    changes->sheet = kChangesSheet;
    result.key_tables.push_back(key_table(*changes, reports));
  }
  for (const TimedSheet& sheet : key_sheets(reports))
    if (shows(sheet.sheet, options) && sheet.sheet != finest)
      result.key_tables.push_back(key_table(sheet, reports));
  return result;
}

void write_comparison(const Comparison& comparison, const std::string& output) {
  const Report& report = comparison.report;
  write_tables(report.tables, output,
               {.title = report.title,
                .source = {report.trace_name},
                .version = kVersion,
                .verb = "compare",
                .is_folded = is_folded_column,
                .edition = report.edition,
                .csv_raw = report.csv_raw});
}

void write_gates(std::span<const GateOutcome> gates, const std::string& output) {
  io::OutputFile file{output};
  file.write(output.ends_with(".json") ? gates_json(gates) : junit_xml(gates));
  file.commit();
}

void write_gates(const Comparison& comparison, const std::string& output) {
  write_gates(comparison.gates, output);
}

}  // namespace tracelens
