// The comparison of reports as a document, and the gates on it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
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
#include "analysis/page/page.hpp"
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

// "again is 0.2% slower, math is 91.4% slower than base."
Overview compare_overview(std::span<const ComparedReport> reports, std::string_view conclusion) {
  Overview overview;
  const std::optional<TimedSheet> timeline = timed_sheet(reports, "gpu_timeline");
  const TimedRow* total = nullptr;
  if (timeline)
    for (const TimedRow& row : timeline->rows)
      if (row.name == "total_time") total = &row;
  if (total != nullptr && total->ms[0].value_or(0) > 0) {
    std::vector<std::string> parts;
    for (std::size_t run = 1; run < reports.size(); ++run) {
      if (!total->ms[run]) continue;
      const double percent = 100 * (*total->ms[run] - *total->ms[0]) / *total->ms[0];
      parts.push_back(fmt::format("{} is {:.1f}% {}", reports[run].tag, std::abs(percent),
                                  percent < 0 ? "faster" : "slower"));
    }
    if (!parts.empty())
      overview.verdict = fmt::format("{} than {}.", fmt::join(parts, ", "), reports[0].tag);
  }
  for (std::size_t at = 0; at < conclusion.size();) {
    const std::size_t end = std::min(conclusion.find('\n', at), conclusion.size());
    if (end > at) overview.advice.emplace_back(conclusion.substr(at, end - at));
    at = end + 1;
  }
  return overview;
}

// What a page shows beside the sheets: the verdict, what took the place of what, and, where all
// inputs are traces, their lanes.
void add_page(std::span<const ComparedReport> reports, std::span<const Trace> traces,
              const PageOptions& options, Comparison& result) {
  result.report.overview = compare_overview(reports, result.conclusion);
  for (const Table& table : result.key_tables)
    if (table.name() == kChangesSheet) result.report.tables.push_back(table);
  if (traces.size() != reports.size()) return;
  std::vector<NamedTrace> runs;
  for (std::size_t run = 0; run < traces.size(); ++run)
    runs.push_back({traces[run], reports[run].tag});
  result.report.page = std::make_shared<const Page>(make_page(runs, options));
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
    if ((by_trees || options.report.page) && input.trace) traces.push_back(*std::move(input.trace));
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
  if (by_trees && traces.size() == 2) changes = explain_by_trees(traces[0], traces[1], reports);
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
  if (options.report.page) add_page(reports, traces, *options.report.page, result);
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
                .overview = report.overview ? &*report.overview : nullptr,
                .page = report.page.get(),
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
