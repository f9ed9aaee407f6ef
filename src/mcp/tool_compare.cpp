// compare: what changed between runs, from totals to ops.
#include <fmt/format.h>

#include <algorithm>
#include <tracelens/compare.hpp>
#include <tracelens/printed_text.hpp>
#include <tracelens/pseudo_ops.hpp>

#include "mcp/clean_text.hpp"
#include "mcp/tool.hpp"

namespace tracelens::mcp {
namespace {

constexpr Argument kCompareArguments[] = {
    {.name = "traces", .is_required = true, .is_list = true, .least = 2, .most = 8},
    {.name = "names", .is_list = true},
    {.name = "gates", .description = "such as total_time > 5%", .is_list = true},
    {.name = "limit", .kind = ArgumentKind::kInteger, .least = 1, .most = 200, .otherwise = 15},
};

constexpr std::size_t kSectionRowsCompared = 10;

// Names that stand in the conclusion, on one line there: those of the first column.
std::vector<std::string> names_of_changes(const std::vector<Table>& tables) {
  std::vector<std::string> names;
  for (const Table& table : tables)
    if (table.columns()[0].spec().kind == Kind::kText)
      for (const std::string& name : table.columns()[0].texts())
        if (table.name() == "what_changed" || table.name() == "kernel_summary")
          names.push_back(single_line(name));
  return names;
}

// `room`: bytes for their evidence, which the first gates get.
void tell_gates(const Comparison& comparison, std::size_t room, Answer& answer) {
  std::vector<Value> outcomes;
  bool is_left_out = false;
  for (const GateOutcome& gate : comparison.gates) {
    std::vector<std::string> evidence;
    for (const std::string& sentence : gate.evidence) evidence.push_back(clean_sentence(sentence));
    if (evidence.empty()) evidence.push_back(clean_sentence(gate.summary));
    answer.lead +=
        fmt::format("Gate {} {}: {}\n", in_quotes(gate.gate), gate.passed ? "passed" : "failed",
                    in_quotes(evidence.empty() ? "" : evidence.front()));
    const std::size_t taken = compact_json(array(evidence)).size();
    if (taken > room) {
      is_left_out = true;
      evidence.clear();
    } else {
      room -= taken;
    }
    outcomes.push_back(object({{"gate", shortened(clean_text(gate.gate), kQuotedInSentence)},
                               {"passed", gate.passed},
                               {"evidence", array(evidence)}}));
  }
  if (is_left_out)
    answer.notes.emplace_back("no room for the evidence of all gates: raise `max_tokens`");
  answer.more.emplace_back("gates", array(std::move(outcomes)));
}

Answer answer_of(const Comparison& comparison, const AllowedFolders& folders,
                 std::size_t max_tokens) {
  Answer answer;
  answer.lead = with_quoted_names(comparison.conclusion, names_of_changes(comparison.key_tables));
  answer.more.emplace_back("conclusion", answer.lead);
  answer.lead += "\n\n";
  tell_gates(comparison, max_tokens / 2, answer);
  answer.title = "What explains the difference, the largest first";
  for (const Table& table : comparison.key_tables) {
    if (answer.grid.columns.empty())
      answer.grid = grid_of(table);
    else if (table.name() == "gpu_timeline")
      answer.sections.insert(answer.sections.begin(),
                             {table.name(), "GPU timeline side by side (ms)",
                              "call table gpu_timeline of each", grid_of(table)});
    else if (table.name() == "ops_summary_by_category")
      answer.sections.push_back({table.name(), "By category (ms)",
                                 "call table ops_summary_by_category of each",
                                 grid_of(table, {}, kSectionRowsCompared)});
  }
  for (const std::string& sentence : comparison.report.warnings)
    answer.notes.push_back(quoted_note(folders.without_paths(sentence)));
  return answer;
}

Value run_compare(Call& call) {
  std::vector<OpenFile> files;
  std::vector<std::string> inputs;
  for (const std::string& name : call.texts("traces")) {
    files.push_back(call.open_file(name));
    inputs.push_back(files.back().path());
  }
  return call.paged_result([&] {
    CompareOptions options;
    options.names = call.texts("names");
    options.gates = call.texts("gates");
    options.report = call.options();
    options.read = [&](const std::string& path) {
      const auto file = std::ranges::find(files, path, &OpenFile::path);
      Trace trace = call.workshop().store.read(*file, call.control());
      return options.report.edition == Edition::kExtended ? add_pseudo_ops(std::move(trace))
                                                          : std::move(trace);
    };
    return answer_of(compare_reports(inputs, options), call.workshop().folders,
                     static_cast<std::size_t>(call.integer("max_tokens")));
  });
}

Members compare_output() {
  return {{"conclusion", type_schema("string")},
          {"gates", type_schema("array")},
          {"gpu_timeline", grid_schema()},
          {"ops_summary_by_category", grid_schema()}};
}

}  // namespace

const Tool kCompareTool{
    .name = "compare",
    .title = "Compare runs",
    .description =
        "Runs side by side, the first is the baseline: conclusion, timeline, categories, largest changes; gates pass or "
        "fail. Use it first for two runs.",
    .arguments = {kCompareArguments, several_traces_arguments().first(3)},
    .more_output = compare_output,
    .run = run_compare};

}  // namespace tracelens::mcp
