#include <tracelens/compare.hpp>
#include <tracelens/graph_stitching.hpp>

#include <algorithm>
#include <utility>

#include "analysis/diff/inline.hpp"

namespace tracelens {

void add_other_trace(Report& report, const Trace& trace, const Trace& other,
                     const ReportOptions& options) {
  const auto summary = std::ranges::find(report.tables, "unified_perf_summary", &Table::name);
  if (summary == report.tables.end()) return;
  // The trees are those that the report is made of.
  const bool is_merged =
      options.inference && options.stitching != nullptr && options.stitching->merged;
  const TreeOptions tree_options{.python_frames = options.recompute || options.call_stack ||
                                                  options.group_by_module || is_merged,
                                 .link_by_correlation = options.link_by_correlation};
  const TraceFacts facts{trace, tree_options};
  const Tree& tree = facts.tree();
  const Tree other_tree = build_tree(other, tree_options);
  if (tree.op_roots().empty() || other_tree.op_roots().empty()) {
    report.warnings.emplace_back("the other trace has no ops: it is not compared");
    return;
  }
  const MergedTree merged = merge_trees(trace, tree, other, other_tree);
  const DiffInput input{trace, tree, other, other_tree, merged};
  const DiffStats stats = collect_diff_stats(input);
  if (stats.rows.empty()) return;
  OpInput ops{facts, {.edition = options.edition, .split_recompute = options.recompute}};
  *summary = with_other_trace(*summary, ops, stats);
  report.tables.insert(std::next(summary), diff_stats_table(input, stats, true));
}

}  // namespace tracelens
