// unified_rows.cpp: the ops that together account for every GPU event once, one row each.
#include <algorithm>
#include <string>
#include <utility>

#include "analysis/ops/call_stacks.hpp"
#include "analysis/ops/unified_ops.hpp"
#include "analysis/rows/metrics.hpp"
#include "analysis/rows/op_cells.hpp"
#include "analysis/rows/tables.hpp"

namespace tracelens {
namespace {

struct UnifiedOpRow : SingleOp {
  const UnifiedOp* op = nullptr;
  OpMetrics metrics = {};
  Value params = {};
  bool call_stacks = false;

  [[nodiscard]] Value kernels() const {
    const std::span<const GpuPosition> positions = input.ops.kernels(op->row);
    if (positions.empty()) return {};
    if (!call_stacks) return cells.kernels(positions, true);
    return cells.kernels(positions, true, stacks(positions));
  }

 private:
  // Of each GPU event, down to the call that launched it; none for a synthetic op.
  [[nodiscard]] std::vector<Value> stacks(std::span<const GpuPosition> positions) const {
    std::vector<Value> lists;
    const Tree& tree = input.tree;
    // The way of nearly all of them: from the root straight down.
    const bool is_straight =
        op->top.valid() && !tree.parent(op->top).valid() && !tree.is_passed_over(op->row.node);
    for (const GpuPosition position : positions) {
      if (!is_straight) break;
      const EventId kernel = input.launches.gpu_events()[position].event;
      lists.push_back(cells.stacks().of(tree.parent(tree.node(kernel))));
      if (lists.back().is_null()) break;
    }
    if (lists.size() == positions.size() && !lists.back().is_null()) return lists;
    lists.clear();
    for (CallChain& chain : kernel_call_stacks(input, cells.stacks().frames(), *op))
      lists.push_back(Value::list(std::move(chain)));
    return lists;
  }
};

ColumnSet<UnifiedOpRow> columns_of(const OpInput& input, std::span<const UnifiedOp> ops,
                                   const UnifiedColumns& chosen) {
  using Row = UnifiedOpRow;
  ColumnSet<Row> columns{
      {{"name", Kind::kText, "", "op name as traced; of a synthetic op caller and kernel"},
       [](const Row& row) { return unified_name(row.input.trace, *row.op); }},
      {{"op category", Kind::kText, "", "what kind of work the op does"},
       [](const Row& row) { return row.category_text(); }},
      {{"UID", Kind::kInteger, "id", "position in the trace; of synthetic ops behind its end"},
       [](const Row& row) { return row.op->uid; }}};
  std::vector<EventId> events;
  for (const UnifiedOp& op : ops) events.push_back(op.row.event);
  add_id_columns(columns, kind_of_ids(input.trace, events));
  add_track_columns(columns);
  columns.add({"External id", Kind::kInteger, "id", "number that the profiler gave the call"},
              [](const Row& row) { return row.external_id(); });
  add_overlap_cells(columns);
  add_argument_columns(
      columns, [](const Value& argument) { return argument; }, chosen.arguments);
  columns.add({{{"duration_us", Kind::kReal, "µs", "how long the call took on the host"},
                [](const Row& row) { return exact_us(row.input.trace.dur_ns()[row.event.row]); }},
               {{"has_perf_model", Kind::kBool, "", "a model knows the op, or its forward op"},
                [](const Row& row) { return row.op->has_model; }}});
  add_recompute_cell(columns, input);
  if (chosen.metrics) {
    add_metric_columns(columns, {.work = std::ranges::any_of(ops, &UnifiedOp::answered),
                                 .roofline = input.options.gpu != nullptr});
    columns.add({"perf_params", Kind::kNested, "", "parameters of the model"}, &Row::params);
  }
  columns.add(
      {{{"kernel_details", Kind::kNested, "", "the GPU events below the op"},
        &Row::kernels,
        chosen.kernels},
       {{"event", Kind::kInteger, "id", "the event itself, or the caller of a synthetic op"},
        [](const Row& row) { return row.position(); },
        chosen.callers}});
  return columns;
}

}  // namespace

Table unified_rows(OpInput& input, OpCells& cells, const UnifiedColumns& columns) {
  const std::vector<UnifiedOp> ops = collect_unified_ops(input);
  cells.start_table();
  ColumnSet<UnifiedOpRow> set = columns_of(input, ops, columns);
  Table table = set.make_table("unified_ops", "Every GPU event once, op by op");
  WorkFigures figures{input.models, input.options.gpu, input.options.peaks};
  ParamCells params{input.models};
  for (const UnifiedOp& op : ops) {
    UnifiedOpRow row{{input, cells, op.row.event, op.row.node, op.category}, &op};
    row.call_stacks = columns.call_stacks;
    row.overlap = input.overlaps->of(input.ops.kernels(op.row));
    row.metrics.busy_ns = op.row.busy_ns;
    if (op.answered) {
      row.metrics.work = &*input.models[op.row.answer];
      row.metrics.figures = &figures.of(op.row.answer);
      row.params = params.of(op.row.answer);
    }
    set.append(table, row);
  }
  return table;
}

}  // namespace tracelens
