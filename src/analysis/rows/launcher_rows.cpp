// launcher_rows.cpp: one row per op that launched GPU work itself.
#include "analysis/rows/op_cells.hpp"
#include "analysis/rows/tables.hpp"

namespace tracelens {
namespace {

struct LauncherRow : SingleOp {
  const Launcher* launcher = nullptr;

  [[nodiscard]] std::int64_t kernel_count() const { return launcher->count; }
  [[nodiscard]] Value kernels() const {
    return cells.kernels(input.launches.own(*launcher), false);
  }
};

ColumnSet<LauncherRow> columns_of(const OpInput& input, const LauncherColumns& chosen) {
  using Row = LauncherRow;
  std::vector<EventId> events;
  for (const Launcher& op : input.launches.launchers()) events.push_back(op.event);
  ColumnSet<Row> columns{
      {{"name", Kind::kText, "", "op name as traced"}, [](const Row& row) { return row.name(); }},
      {{"op category", Kind::kText, "", "what kind of work the op does"},
       [](const Row& row) { return row.category_text(); }},
      {{"UID", Kind::kInteger, "id", "position in the trace"},
       [](const Row& row) { return row.position(); }},
      {{"total_direct_kernel_time", Kind::kReal, "µs", "GPU time of the op's own kernels"},
       [](const Row& row) { return us(row.launcher->direct_ns); }},
      {{"total_subtree_kernel_time", Kind::kReal, "µs", "GPU time of all kernels below the op"},
       [](const Row& row) { return us(row.launcher->subtree_ns); }},
      {{"direct_kernel_count", Kind::kInteger, "", "GPU events the op launched itself"},
       &Row::kernel_count}};
  add_overlap_cells(columns);
  columns.add(
      {"ts", Kind::kReal, "µs", "start of the op, by the trace's clock"},
      [](const Row& row) { return exact_us(row.input.trace.ts_ns()[row.event.row]); },
      chosen.start);
  add_argument_columns(columns, [](const Value& argument) { return argument; });
  add_id_columns(columns, kind_of_ids(input.trace, events), chosen.ids);
  columns.add({{{"external_id", Kind::kInteger, "id", "number that the profiler gave the call"},
                [](const Row& row) { return row.external_id(); },
                chosen.ids},
               {{"kernel_details", Kind::kNested, "", "the GPU events the op launched, by start"},
                &Row::kernels,
                chosen.kernels},
               {{"num_kernels", Kind::kInteger, "", "how many they are"},
                &Row::kernel_count,
                chosen.kernels},
               {{"call_stack", Kind::kNested, "",
                 "the op, and the nn.Modules around it, the innermost first"},
                [](const Row& row) { return row.input.modules.stack(row.node); },
                chosen.modules},
               {{"parent_module", Kind::kText, "",
                 "class of the innermost nn.Module around the op; NA: none"},
                [](const Row& row) {
                  return std::string_view{
                      row.input.modules.text(row.input.modules.around(row.node))};
                },
                chosen.modules}});
  add_track_columns(columns);
  add_recompute_cell(columns, input);
  return columns;
}

}  // namespace

Table launcher_rows(OpInput& input, OpCells& cells, const LauncherColumns& columns) {
  cells.start_table();
  ColumnSet<LauncherRow> set = columns_of(input, columns);
  Table table = set.make_table("launchers", "Every op that launched GPU work itself, by start");
  for (const Launcher& op : input.launches.launchers()) {
    LauncherRow row{{input, cells, op.event, op.node, op.category}, &op};
    row.overlap = input.overlaps->of(input.launches.own_in_file_order(op));
    set.append(table, row);
  }
  return table;
}

}  // namespace tracelens
