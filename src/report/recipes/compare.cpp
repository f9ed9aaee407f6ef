// The comparison of reports as a document, and the gates on it.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tracelens/compare.hpp>
#include <tracelens/error.hpp>
#include <tracelens/version.hpp>
#include <utility>

#include "analysis/compare/gates.hpp"
#include "analysis/compare/sheets.hpp"
#include "analysis/compare/times.hpp"
#include "io/output_file.hpp"
#include "report/recipes/compare_input.hpp"
#include "report/sinks/sink.hpp"

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

}  // namespace

bool Comparison::passed() const { return std::ranges::all_of(gates, &GateOutcome::passed); }

Comparison compare_reports(const std::vector<std::string>& inputs, const CompareOptions& options) {
  // Mistakes in flags show before anything large is read.
  const std::vector<std::string> tags = tags_of(inputs, options);
  const std::vector<Gate> gates = parse_gates(options.gates);
  check_groups(options.sheets);

  std::vector<ComparedReport> reports;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    reports.push_back(read_compared(inputs[i], tags[i], options));
  if (options.edition == Edition::kExtended) unify_timelines(reports);

  Comparison result;
  result.report.edition = options.edition;
  result.report.title = fmt::format("Comparison of {}", fmt::join(tags, ", "));
  result.report.trace_name = fmt::format("{}", fmt::join(inputs, ", "));
  result.report.tables = compare_sheets(
      reports, {.groups = options.sheets, .edition = options.edition}, result.report.warnings);
  for (const Gate& gate : gates) result.gates.push_back(check_gate(gate, reports));
  for (const TimedSheet& sheet : key_sheets(reports))
    if (std::ranges::any_of(options.sheets, [&](const std::string& group) {
          return is_compared(sheet.sheet, group, options.edition);
        }))
      result.key_tables.push_back(key_table(sheet, reports));
  result.conclusion = conclusion(reports);
  return result;
}

void write_comparison(const Comparison& comparison, const std::string& output) {
  const Report& report = comparison.report;
  write_tables(report.tables, output,
               {.title = report.title,
                .source = {report.trace_name},
                .version = kVersion,
                .is_folded = is_folded_column,
                .edition = report.edition});
}

void write_gates(const Comparison& comparison, const std::string& output) {
  io::OutputFile file{output};
  file.write(output.ends_with(".json") ? gates_json(comparison.gates)
                                       : junit_xml(comparison.gates));
  file.commit();
}

}  // namespace tracelens
