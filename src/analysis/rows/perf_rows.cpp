// perf_rows.cpp: the work, GPU time and rates of given events.
#include <array>
#include <string_view>
#include <utility>

#include "analysis/rows/metrics.hpp"
#include "analysis/rows/op_cells.hpp"
#include "analysis/rows/tables.hpp"

namespace tracelens {
namespace {

struct PerfRow : SingleOp {
  OpMetrics metrics = {};
  OpRow measured = {};
  Value params = {};
  const Reason* problem = nullptr;  // null: a model answered

  [[nodiscard]] std::int64_t kernel_count() const { return measured.count; }
  [[nodiscard]] Value kernels() const { return cells.kernels(input.ops.kernels(measured), true); }
};

std::string_view kind_name(Reason::Kind kind) {
  switch (kind) {
    case Reason::Kind::kNoModel:
      return "no model";
    case Reason::Kind::kNotImplemented:
      return "not implemented";
    case Reason::Kind::kFailed:
      return "failed";
  }
  return "";
}

// Kernels by these names move data and compute nothing.
constexpr std::array<std::string_view, 2> kDataMovers = {"at::native::direct_copy_kernel_cuda",
                                                         "transpose_"};

std::int64_t busy_without_data_movement(const OpInput& input, const OpRow& row) {
  std::vector<GpuPosition> others;
  for (const GpuPosition at : input.ops.kernels(row)) {
    const std::string_view name = input.trace.text(input.launches.gpu_events()[at].name);
    const auto is_in_name = [name](std::string_view part) { return name.find(part) != name.npos; };
    if (std::ranges::none_of(kDataMovers, is_in_name)) others.push_back(at);
  }
  return input.launches.busy_ns(others);
}

ColumnSet<PerfRow> columns_of(const OpInput& input, std::span<const EventId> events,
                              const PerfColumns& chosen) {
  using Row = PerfRow;
  ColumnSet<Row> columns{
      {{"cat", Kind::kText, "", "category of the event"},
       [](const Row& row) { return row.input.trace.category_text(row.event); }},
      {{"name", Kind::kText, "", "op name as traced"}, [](const Row& row) { return row.name(); }},
      {{"UID", Kind::kInteger, "id", "position in the trace"},
       [](const Row& row) { return row.position(); }}};
  add_id_columns(columns, kind_of_ids(input.trace, events));
  add_track_columns(columns);
  columns.add({"external_id", Kind::kInteger, "id", "number that the profiler gave the call"},
              [](const Row& row) { return row.external_id(); });
  add_overlap_cells(columns);
  add_argument_columns(columns, &as_list, chosen.arguments);
  add_metric_columns(columns, {.roofline = input.options.gpu != nullptr,
                               .moving_nothing = chosen.without_data_movement});
  columns.add(
      {{{"perf_params", Kind::kNested, "", "parameters of the model"}, &Row::params},
       {{"kernel_details", Kind::kNested, "", "the GPU events it was measured by, by start"},
        &Row::kernels,
        chosen.kernels},
       {{"num_kernels", Kind::kInteger, "", "how many they are"},
        &Row::kernel_count,
        chosen.kernels}});
  add_recompute_cell(columns, input);
  columns.add({{{"has_backward", Kind::kBool, "", "backward ops are linked to the event itself"},
                [](const Row& row) { return !row.input.tree.backward_of(row.event).empty(); },
                chosen.pass == Pass::kBackward},
               {{"problem_kind", Kind::kText, "", "no model, not implemented, or failed"},
                [](const Row& row) -> std::optional<std::string_view> {
                  if (row.problem == nullptr) return std::nullopt;
                  return kind_name(row.problem->kind);
                }},
               {{"problem", Kind::kText, "text", "why there is no answer"},
                [](const Row& row) -> std::optional<std::string_view> {
                  if (row.problem == nullptr) return std::nullopt;
                  return row.problem->text;
                }}});
  return columns;
}

}  // namespace

Table perf_rows(OpInput& input, OpCells& cells, std::span<const EventId> events,
                const PerfColumns& columns) {
  cells.start_table();
  ColumnSet<PerfRow> set = columns_of(input, events, columns);
  Table table = set.make_table("perf_metrics", "Work, GPU time and rates of single calls");
  WorkFigures figures{input.models, input.options.gpu, input.options.peaks};
  ParamCells params{input.models};
  for (const EventId event : events) {
    PerfRow row{{input, cells, event, input.tree.node(event)}};
    row.measured =
        columns.pass == Pass::kForward ? input.ops.forward(event) : input.ops.backward(event);
    row.metrics.busy_ns = row.measured.busy_ns;
    if (columns.without_data_movement)
      row.metrics.moving_nothing_ns = busy_without_data_movement(input, row.measured);
    if (const Launcher* const launcher = input.launches.launcher(row.node))
      row.overlap = input.overlaps->of(input.launches.own_in_file_order(*launcher));
    const OrReason<Work>& work = input.models[row.measured.answer];
    if (work) {
      row.metrics.work = &*work;
      row.metrics.figures = &figures.of(row.measured.answer);
      row.params = params.of(row.measured.answer);
    } else {
      row.problem = &work.reason();
    }
    set.append(table, row);
  }
  return table;
}

}  // namespace tracelens
