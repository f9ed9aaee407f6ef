#include "report/recipes/op_tables.hpp"

#include <optional>
#include <utility>

#include "analysis/ops/category_sheets.hpp"
#include "analysis/ops/module_tables.hpp"
#include "analysis/ops/op_tables.hpp"
#include "analysis/ops/step_tables.hpp"
#include "analysis/ops/unified.hpp"
#include "analysis/ranks/single.hpp"

namespace tracelens {

std::vector<Table> make_op_tables(const Trace& trace, const Tree& tree,
                                  const OpTableOptions& options) {
  std::vector<Table> tables;
  if (tree.stats().gpu_only) return tables;
  const auto add = [&](std::optional<Table> table) {
    if (table && table->rows() > 0) tables.push_back(std::move(*table));
  };
  OpInput input{trace, tree, options};
  add(ops_summary_by_category(input));
  add(ops_summary(input));
  if (options.by_module)
    for (Table& table : module_tables(input)) add(std::move(table));
  if (!options.steps.empty()) add(ops_by_step(input, options.steps));
  add(ops_unique_args(input));
  if (options.overlap) add(ops_unique_args_kl_overlap(input));
  {  // the ops take much memory: they go before the sheets come
    const std::vector<UnifiedOp> ops = collect_unified_ops(input);
    add(unified_perf_summary(input, ops));
    if (options.overlap) add(unified_perf_summary_kl_overlap(input, ops));
  }
  for (Table& sheet : category_sheets(input)) add(std::move(sheet));
  if (options.collectives) add(coll_analysis(trace));
  return tables;
}

}  // namespace tracelens
