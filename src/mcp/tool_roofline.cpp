// roofline: how far each op is from what the GPU could do.
#include <fmt/format.h>

#include <tracelens/gpu.hpp>
#include <tracelens/roofline.hpp>

#include "mcp/clean_text.hpp"
#include "mcp/sql_rows.hpp"
#include "mcp/tool.hpp"
#include "mcp/tool_result.hpp"

namespace tracelens::mcp {
namespace {

constexpr std::string_view kBounds[] = {"memory", "compute"};

constexpr Argument kRooflineArguments[] = {
    {.name = "limit", .kind = ArgumentKind::kInteger, .least = 1, .most = 200, .otherwise = 15},
    {.name = "bound", .kind = ArgumentKind::kChoice, .words = kBounds},
};

const std::vector<AnswerColumn>& point_columns() {
  static const std::vector<AnswerColumn> kColumns = {
      {.name = "op", .from_trace = true},
      {.name = "shapes", .from_trace = true},
      {.name = "gpu_time_us", .unit = "us"},
      {.name = "share", .unit = "%"},
      {.name = "calls"},
      {.name = "flops_per_byte"},
      {.name = "tflops", .unit = "TFLOP/s"},
      {.name = "tb_per_s", .unit = "TB/s"},
      {.name = "bound"},
      {.name = "percent_of_roof", .unit = "%"},
      {.name = "peak", .unit = "TFLOP/s", .is_extra = true},
      {.name = "category", .from_trace = true, .is_extra = true}};
  return kColumns;
}

// Rates as the report has them: means over the calls.
Grid points_of_report(TraceDesk& desk, const Gpu& gpu, CallControl& control) {
  SqlRows rows = run_sql(
      desk,
      "SELECT name, input_dims, kernel_time_us_sum, percentage_pct, operation_count, flops_per_byte, "
      "tflops_per_s_mean, tb_per_s_mean, CASE roofline_bound WHEN 'COMPUTE_BOUND' THEN 'compute' WHEN "
      "'MEMORY_BOUND' THEN 'memory' END, pct_roofline_mean, compute_spec, op_category FROM "
      "unified_perf_summary WHERE pct_roofline_mean IS NOT NULL ORDER BY kernel_time_us_sum DESC",
      {}, {.rows = 5000}, control);
  for (std::vector<Value>& row : rows.grid.rows) {
    const auto peak = gpu.peak_tflops.find(row[10].as_text());
    row[10] = peak == gpu.peak_tflops.end() ? Value{} : Value{peak->second};
  }
  rows.grid.columns = point_columns();
  return std::move(rows.grid);
}

// Of a JAX profile, which has no such table.
Grid points_of(const Roofline& roofline) {
  const auto number = [](const std::optional<double>& value) {
    return value ? Value{*value} : Value{};
  };
  Grid grid{.columns = point_columns(), .rows = {}};
  for (const RooflinePoint& point : roofline.points) {
    const auto peak = roofline.gpu.peak_tflops.find(point.compute_spec);
    grid.rows.push_back(
        {point.op, point.dims, static_cast<double>(point.busy_ns) / 1e3, point.share, point.calls,
         number(point.intensity()), number(point.tflops()), number(point.terabytes()),
         point.bound ? Value{*point.bound == Bound::kCompute ? "compute" : "memory"} : Value{},
         number(point.percent_of_roof()),
         peak == roofline.gpu.peak_tflops.end() ? Value{} : Value{peak->second}, point.category});
  }
  return grid;
}

Value run_roofline(Call& call) {
  const TraceStore::Lease desk = call.open_trace();
  const Trace& trace = desk->trace();
  const std::optional<Gpu> gpu = chosen_gpu({.name = desk->options().gpu, .file = {}}, &trace);
  if (!gpu)
    throw ToolError{
        fmt::format("the trace names no GPU whose peaks are known: give options.gpu, one of {}",
                    known_gpu_names())};
  return call.paged_result(
      [&] {
        const Roofline roofline = measure_roofline(trace, *gpu);
        if (roofline.points.empty())
          throw ToolError{fmt::format("{}; record with record_shapes=True and the CPU activity",
                                      clean_sentence(why_no_points(trace)))};
        const bool has_table = desk->table("unified_perf_summary") != nullptr;
        Answer answer{.grid = has_table ? points_of_report(*desk, *gpu, call.control())
                                        : points_of(roofline)};
        if (const std::string& bound = call.text("bound"); !bound.empty())
          std::erase_if(answer.grid.rows,
                        [&](const std::vector<Value>& row) { return row[8].as_text() != bound; });
        const double unmodelled = 100 - roofline.covered();
        answer.lead = fmt::format(
            "Against the datasheet peaks of {} ({} GB/s memory). Ops with a model hold {:.4g} % of the GPU time "
            "of all ops; {:.4g} % has no model and no place here.\n\n",
            gpu->name, gpu->memory_gbps.value_or(0), roofline.covered(), unmodelled);
        answer.more = {{"gpu", gpu->name},
                       {"memory_gbps", gpu->memory_gbps ? Value{*gpu->memory_gbps} : Value{}},
                       {"modelled_percent", roofline.covered()},
                       {"not_modelled_percent", unmodelled}};
        return answer;
      },
      &*desk);
}

Members roofline_output() {
  return {{"gpu", type_schema("string")}, {"not_modelled_percent", type_schema("number")}};
}

}  // namespace

const Tool kRooflineTool{
    .name = "roofline",
    .title = "Roofline",
    .description =
        "Ops by GPU time: FLOPs per byte, TFLOP/s, TB/s, bound, percent of the roof; share "
        "without model. Is busy time well spent? Needs recorded shapes.",
    .arguments = {kRooflineArguments, trace_arguments()},
    .more_output = roofline_output,
    .run = run_roofline};

}  // namespace tracelens::mcp
