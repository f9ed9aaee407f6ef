// Two traces aligned: which tables and files make the result.
#include <fmt/format.h>

#include <filesystem>
#include <tracelens/compare.hpp>
#include <tracelens/tree.hpp>
#include <tracelens/version.hpp>
#include <utility>

#include "analysis/compare_sheets.hpp"
#include "analysis/diff_ops.hpp"
#include "analysis/diff_stats.hpp"
#include "analysis/diff_summary.hpp"
#include "io/output_file.hpp"
#include "report/diff_report_note.hpp"
#include "report/sink.hpp"

namespace tracelens {
namespace {

constexpr double kLittleInCommon = 0.5;  // share of the GPU time; below it trees say little

// Steps the profiler marked, or the iterations that the Python frames show.
std::vector<Step> steps_of(const Trace& trace, const Tree& tree) {
  std::vector<Step> steps = find_steps(trace, tree);
  return steps.empty() ? find_steps(trace, build_tree(trace, {.python_frames = true})) : steps;
}

void add_reference_tables(const DiffInput& input, const DiffOptions& options, TraceDiff& diff) {
  const DiffStats stats = collect_diff_stats(input, {.count_fills = options.improved});
  diff.tree_text =
      merged_tree_text(input, {.prune_idle_roots = options.prune_idle_roots || options.improved});
  Table rows = diff_stats_table(input, stats);
  DiffSummary summary =
      summarize_diff(rows, {.identical = stats.is_identical, .name_by_root = !options.improved});
  diff.op_map_trace1 = std::move(summary.op_map_trace1);
  diff.op_map_trace2 = std::move(summary.op_map_trace2);
  diff.op_map = std::move(summary.op_map);
  diff.report.tables.push_back(std::move(rows));
  diff.report.tables.push_back(std::move(summary.table));
  if (stats.is_identical)
    diff.report.warnings.emplace_back("the two traces are identical: the rows of one are shown");
  if (stats.without_op > 0)
    diff.report.warnings.push_back(fmt::format(
        "{} GPU events were launched outside any op and have no row", stats.without_op));
}

// Sheets of the two reports side by side, for when the call trees say little or nothing.
std::vector<Table> compared_by_name(const Trace& trace1, const Trace& trace2,
                                    std::vector<std::string>& notes) {
  std::vector<ComparedReport> reports;
  for (const auto& [tag, trace] : {std::pair{"trace1", &trace1}, std::pair{"trace2", &trace2}})
    reports.push_back(
        {.tag = tag, .path = trace->source().name, .tables = make_report(*trace).tables});
  return compare_sheets(reports, {}, notes);
}

void compare_without_trees(const Trace& trace1, const Trace& trace2, TraceDiff& diff) {
  diff.aligned = false;
  diff.report.tables = compared_by_name(trace1, trace2, diff.report.warnings);
  diff.report.warnings.emplace_back(
      "a trace has no ops, so the call trees cannot be aligned: kernels and categories are "
      "compared instead");
}

void add_own_tables(const DiffInput& input, TraceDiff& diff) {
  const std::vector<Step> steps1 = steps_of(input.trace1, input.tree1),
                          steps2 = steps_of(input.trace2, input.tree2);
  const std::vector<OpChange> changes = op_changes(input, steps1, steps2);
  const std::vector<Substitution> exchanges = substitutions(input);
  const double share = matched_share(input);
  diff.report.tables.push_back(ops_diff_table(changes));
  diff.report.tables.push_back(substitutions_table(exchanges));
  diff.note = diff_note({.trace1 = input.trace1,
                         .trace2 = input.trace2,
                         .tree1 = input.tree1,
                         .tree2 = input.tree2,
                         .changes = changes,
                         .exchanges = exchanges,
                         .steps = {steps1.size(), steps2.size()},
                         .matched_share = share});
  if (share >= kLittleInCommon) return;
  diff.report.warnings.push_back(fmt::format(
      "only {:.0f}% of the GPU time belongs to ops that both traces have: categories and "
      "op names are compared too",
      100 * share));
  std::vector<std::string> notes;  // about sheets that are not shown here
  for (Table& table : compared_by_name(input.trace1, input.trace2, notes))
    if (table.name().starts_with("ops_summary")) diff.report.tables.push_back(std::move(table));
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  io::OutputFile file{path.string()};
  file.write(text);
  file.commit();
}

}  // namespace

TraceDiff diff_traces(const Trace& trace1, const Trace& trace2, const DiffOptions& options) {
  TraceDiff diff;
  diff.report.title = "What changed between two traces";
  diff.report.trace_name = fmt::format("{}, {}", trace1.source().name, trace2.source().name);
  const TreeOptions tree_options{.python_frames = options.python_frames};
  const Tree tree1 = build_tree(trace1, tree_options), tree2 = build_tree(trace2, tree_options);
  if (tree1.op_roots().empty() || tree2.op_roots().empty()) {
    compare_without_trees(trace1, trace2, diff);
    return diff;
  }
  if (!options.improved) {
    const MergedTree reference = merge_trees(trace1, tree1, trace2, tree2, DiffMode::kReference);
    add_reference_tables({trace1, tree1, trace2, tree2, reference}, options, diff);
  }
  const MergedTree improved = merge_trees(trace1, tree1, trace2, tree2, DiffMode::kImproved);
  const DiffInput input{trace1, tree1, trace2, tree2, improved};
  if (options.improved) add_reference_tables(input, options, diff);
  add_own_tables(input, diff);
  return diff;
}

void write_diff(const TraceDiff& diff, const std::string& output) {
  const DocumentInfo info{.title = diff.report.title,
                          .source = {diff.report.trace_name},
                          .version = kVersion,
                          .is_folded = is_folded_column};
  if (output.ends_with(".md") && !diff.note.empty()) {
    write_text(output, diff.note);
    return;
  }
  write_tables(diff.report.tables, output, info);
  const bool is_folder = output.ends_with('/') || std::filesystem::is_directory(output);
  if (!is_folder || !diff.aligned) return;
  const std::filesystem::path folder{output};
  write_text(folder / "merged_tree_output.txt", diff.tree_text);
  write_text(folder / "cpu_op_map_trace1.json", diff.op_map_trace1);
  write_text(folder / "cpu_op_map_trace2.json", diff.op_map_trace2);
  write_text(folder / "cpu_op_map.json", diff.op_map);
  write_text(folder / "note.md", diff.note);
}

}  // namespace tracelens
