// Two traces aligned: which tables and files make the result.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <tracelens/compare.hpp>
#include <tracelens/gpu.hpp>
#include <tracelens/version.hpp>
#include <utility>

#include "analysis/compare/sheets.hpp"
#include "analysis/compare/times.hpp"
#include "analysis/diff/levels.hpp"
#include "analysis/diff/ops.hpp"
#include "analysis/diff/stats.hpp"
#include "analysis/diff/summary.hpp"
#include "analysis/gpu/timeline.hpp"
#include "analysis/host/diff_counts.hpp"
#include "analysis/page/page.hpp"
#include "facts/trace_facts.hpp"
#include "io/output_file.hpp"
#include "report/recipes/compare_input.hpp"
#include "report/recipes/diff_note.hpp"
#include "report/sinks/sink.hpp"

namespace tracelens {
namespace {

constexpr double kLittleInCommon = 0.5;  // share of the GPU time; below it trees say little

void add_reference_tables(const DiffInput& input, const DiffOptions& options, TraceDiff& diff) {
  const DiffStats stats = collect_diff_stats(input, options.edition);
  diff.tree_text = merged_tree_text(
      input,
      {.prune_idle_roots = options.prune_idle_roots || options.edition == Edition::kExtended});
  Table rows = diff_stats_table(input, stats);
  DiffSummary summary =
      summarize_diff(rows, {.identical = stats.is_identical, .edition = options.edition});
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

std::vector<ComparedReport> reports_of(const Trace& trace1, const Trace& trace2) {
  std::vector<ComparedReport> reports;
  for (const auto& [tag, trace] : {std::pair{"trace1", &trace1}, std::pair{"trace2", &trace2}})
    reports.push_back({.tag = tag,
                       .path = trace->source().name,
                       .tables = make_report(*trace, {.overview = false}).tables});
  unify_timelines(reports);
  return reports;
}

// gpu_timeline as the report of the trace has it; the rest of a PyTorch report, which takes its
// time, is not made for that.
Table timeline_of(const TraceFacts& facts, const DiffOptions& options) {
  if (facts.kind() != TraceKind::kPyTorch)
    return *make_report(facts.trace(), {.tables = {"gpu_timeline"}}).find("gpu_timeline");
  // Frames change which ops are discarded; the report has none.
  if (options.python_frames) return gpu_timeline(TraceFacts{facts.trace()}).table;
  return gpu_timeline(facts).table;
}

TimedSheet timelines_of(const ComparedRuns& runs, const DiffOptions& options) {
  std::vector<ComparedReport> reports(2);
  reports[0].tables.push_back(timeline_of(runs.first, options));
  reports[1].tables.push_back(timeline_of(runs.second, options));
  unify_timelines(reports);
  return timed_sheet(reports, "gpu_timeline").value_or(TimedSheet{});
}

void compare_without_trees(const ComparedRuns& runs, TraceDiff& diff) {
  diff.aligned = false;
  const std::vector<ComparedReport> reports = reports_of(runs.first.trace(), runs.second.trace());
  diff.report.tables = compare_sheets(reports, {}, diff.report.warnings);
  diff.note = kernel_diff_note(runs, reports);
  diff.report.warnings.emplace_back(
      "a trace has no ops, so the call trees cannot be aligned: kernels and categories are "
      "compared instead");
}

// What is coarser than ops, for runs whose ops have little in common.
LevelDiff add_coarser_tables(const DiffInput& input, double share, TraceDiff& diff) {
  LevelDiff level = diff_by_level(input.trace1, input.trace2);
  const char* const what = level.level == DiffLevel::kModule       ? "nn.Modules, categories"
                           : level.level == DiffLevel::kAnnotation ? "user annotations, categories"
                                                                   : "categories";
  diff.report.warnings.push_back(fmt::format(
      "only {:.0f}% of the GPU time belongs to ops that have a counterpart in the other trace: {} "
      "and op names are compared too",
      100 * share, what));
  if (level.level != DiffLevel::kNone) diff.report.tables.push_back(level_diff_table(level));
  std::vector<std::string> notes;  // about sheets that are not shown here
  for (Table& table : compare_sheets(reports_of(input.trace1, input.trace2), {}, notes))
    if (table.name().starts_with("ops_summary")) diff.report.tables.push_back(std::move(table));
  return level;
}

// How both runs are called, by their files.
std::vector<std::string> run_names(const Trace& first, const Trace& second) {
  const std::string &before = first.source().name, &after = second.source().name;
  if (before == after) return {"base", "new"};
  return distinct_tags({before, after});
}

// "5.0% faster: 33.1 ms from the first to the last GPU event instead of 34.9 ms."
Overview diff_overview(const TimedSheet& timeline, const ComparedRuns& runs) {
  const double before = timeline_ms(timeline, "total_time", 0),
               after = timeline_ms(timeline, "total_time", 1);
  Overview overview;
  const std::string before_on = device_name(runs.first.trace()),
                    after_on = device_name(runs.second.trace());
  overview.run = before_on == after_on ? after_on : fmt::format("{} → {}", before_on, after_on);
  if (before <= 0 || after <= 0) return overview;
  const double percent = 100 * (after - before) / before;
  const std::string times = fmt::format("{:.2f} ms from the first to the last GPU event", after);
  overview.verdict = std::abs(percent) < 0.05
                         ? fmt::format("As fast: {}, as before.", times)
                         : fmt::format("{:.1f}% {}: {} instead of {:.2f} ms.", std::abs(percent),
                                       percent < 0 ? "faster" : "slower", times, before);
  return overview;
}

// The timelines of both, with the columns that `compare` has.
Table timeline_table(const TimedSheet& timeline) {
  const ColumnSpec columns[] = {{"type", Kind::kText, "", "kind of time"},
                                {"base::time ms", Kind::kReal, "ms", "in the first trace"},
                                {"new::time ms", Kind::kReal, "ms", "in the second trace"}};
  Table table{"gpu_timeline", "What the GPUs did in both runs", columns};
  for (const TimedRow& row : timeline.rows) table.add_row(row.name, row.ms[0], row.ms[1]);
  return table;
}

void add_own_tables(const DiffInput& input, const ComparedRuns& runs, const DiffOptions& options,
                    TraceDiff& diff) {
  const std::span<const Step> steps1 = runs.first.steps(), steps2 = runs.second.steps();
  const std::vector<OpChange> changes = op_changes(input, steps1, steps2);
  const std::vector<Substitution> exchanges = substitutions(input);
  diff.report.tables.push_back(ops_diff_table(changes));
  diff.report.tables.push_back(substitutions_table(exchanges));
  const double share = common_share(changes);
  const bool is_little = share < kLittleInCommon;
  const LevelDiff level = is_little ? add_coarser_tables(input, share, diff) : LevelDiff{};
  const TimedSheet timeline = timelines_of(runs, options);
  if (options.page) {
    diff.report.overview = diff_overview(timeline, runs);
    diff.report.tables.push_back(timeline_table(timeline));
  }
  diff.note = diff_note({.runs = runs,
                         .timeline = timeline,
                         .changes = changes,
                         .exchanges = exchanges,
                         .steps = {steps1.size(), steps2.size()},
                         .has_little_in_common = is_little,
                         .level = level});
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  io::OutputFile file{path.string()};
  file.write(text);
  file.commit();
}

}  // namespace

TraceDiff diff_traces(const Trace& trace1, const Trace& trace2, const DiffOptions& options) {
  TraceDiff diff;
  const std::vector<std::string> names = run_names(trace1, trace2);
  diff.report.title =
      options.page ? fmt::format("{} → {}", names[0], names[1]) : "What changed between two traces";
  diff.report.trace_name = fmt::format("{}, {}", trace1.source().name, trace2.source().name);
  if (options.page && options.edition == Edition::kExtended)
    diff.report.page = std::make_shared<const Page>(
        make_page(std::vector<NamedTrace>{{trace1, names[0]}, {trace2, names[1]}}, *options.page));
  const TreeOptions tree_options{.python_frames = options.python_frames};
  const TraceFacts first{trace1, tree_options}, second{trace2, tree_options};
  const Tree &tree1 = first.tree(), &tree2 = second.tree();
  const ComparedRuns runs{first, second};
  if (tree1.op_roots().empty() || tree2.op_roots().empty()) {
    compare_without_trees(runs, diff);
    diff.report.tables.push_back(diff_counts(trace1, trace2));
    return diff;
  }
  if (options.edition == Edition::kReference) {
    const MergedTree reference = merge_trees(trace1, tree1, trace2, tree2, Edition::kReference);
    add_reference_tables({trace1, tree1, trace2, tree2, reference}, options, diff);
  }
  const MergedTree extended = merge_trees(trace1, tree1, trace2, tree2, Edition::kExtended);
  const DiffInput input{trace1, tree1, trace2, tree2, extended};
  if (options.edition == Edition::kExtended) add_reference_tables(input, options, diff);
  add_own_tables(input, runs, options, diff);
  diff.report.tables.push_back(diff_counts(trace1, trace2));
  return diff;
}

void write_diff(const TraceDiff& diff, const std::string& output) {
  const DocumentInfo info{.title = diff.report.title,
                          .source = {diff.report.trace_name},
                          .version = kVersion,
                          .verb = "diff",
                          .is_folded = is_folded_column,
                          .overview = diff.report.overview ? &*diff.report.overview : nullptr,
                          .page = diff.report.page.get(),
                          .csv_raw = diff.report.csv_raw};
  if (output.ends_with(".md")) {
    write_text(output, diff.note);
    return;
  }
  write_tables(diff.report.tables, output, info);
  const bool is_folder = output.ends_with('/') || std::filesystem::is_directory(output);
  if (!is_folder) return;
  const std::filesystem::path folder{output};
  write_text(folder / "note.md", diff.note);
  if (!diff.aligned) return;
  write_text(folder / "merged_tree_output.txt", diff.tree_text);
  write_text(folder / "cpu_op_map_trace1.json", diff.op_map_trace1);
  write_text(folder / "cpu_op_map_trace2.json", diff.op_map_trace2);
  write_text(folder / "cpu_op_map.json", diff.op_map);
}

}  // namespace tracelens
