#include "analysis/jax/op_sheets.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tracelens/table_text.hpp>
#include <unordered_map>
#include <utility>

#include "analysis/jax/launchers.hpp"
#include "analysis/kit/cells.hpp"
#include "analysis/kit/group_stats.hpp"
#include "facts/kernel_names.hpp"
#include "io/ascii.hpp"
#include "perf/matrix/gemm_kernel_name.hpp"

namespace tracelens {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

Value dims_value(const std::vector<std::int64_t>& dims) {
  std::vector<Value> items;
  for (const std::int64_t dim : dims) items.emplace_back(dim);
  return Value::tuple(std::move(items));
}

Value whole(double number) { return static_cast<std::int64_t>(number); }

std::string simulation_dtype(hlo::ElementType type) {
  const std::string_view name = type.name();
  if (name == "bf16") return "bf16";
  if (name.starts_with("f8")) return "fp8";
  return name.starts_with('f') ? "fp" + std::string{name.substr(1)} : std::string{name};
}

// As PyTorch would call it: the attention sheet of the Python TraceLens speaks of torch types.
std::string torch_name(hlo::ElementType type) {
  const std::string_view name = type.name();
  if (name == "bf16") return "c10::bfloat16";
  if (name == "f16") return "c10::half";
  if (name == "f32") return "float";
  return name == "f64" ? "double" : std::string{name};
}

// M and N as BLAS has them: it sees a row-major result as its transpose.
std::vector<Param> gemm_params(const JaxOp& op, std::string_view kernel) {
  const perf::HloGemm& gemm = *op.gemm;
  const std::vector<std::int64_t>& order = op.instruction->shape.first_array().minor_to_major;
  const bool is_column_major = order.size() > 1 && order[0] == 0 && order[1] == 1;
  const Value m = whole(gemm.m), n = whole(gemm.n);
  std::vector<Param> params{
      {"B", whole(gemm.batch)},
      {"M", is_column_major ? m : n},
      {"N", is_column_major ? n : m},
      {"K", whole(gemm.k)},
      {"bias", gemm.adds_c || gemm.adds_bias},
      {"dtype_A_B", Value::tuple({std::string{gemm.a.name()}, std::string{gemm.b.name()}})},
      {"simulation_dtype", simulation_dtype(gemm.a)}};
  const std::string_view names[] = {kernel};
  if (auto transpose = perf::gemm_transpose(names))
    params.push_back({"transpose", *std::move(transpose)});
  return params;
}

std::vector<Param> attention_params(const JaxOp& op) {
  const perf::HloAttention& attention = *op.attention;
  std::vector<Param> params = perf::attention_params(attention.sizes);
  const Value bias =
      op.dims.items().size() > 3 ? Value::tuple({op.dims.items()[3]}) : Value::tuple({});
  const std::string type = torch_name(attention.type);
  params.push_back({"bias", bias});
  params.push_back({"dtype_A_B", Value::tuple({type, type})});
  params.push_back({"causal", attention.causal});
  params.push_back({"flash_impl", true});
  params.push_back({"fused", true});
  params.push_back(
      {"bytes_per_element", static_cast<std::int64_t>(attention.type.bits().value_or(0) / 8)});
  return params;
}

std::vector<Param> conv_params(const JaxOp& op) {
  const perf::HloConv& conv = *op.conv;
  const hlo::Shape& result = op.instruction->shape.first_array();
  const std::int64_t bytes = conv.input.type.bits().value_or(0) / 8;
  return {{"convNd", "conv" + std::to_string(conv.filter_spatial.size()) + "d"},
          {"input_shape", op.dims.items().empty() ? Value{} : op.dims.items().front()},
          {"filter_shape", dims_value(conv.filter_spatial)},
          {"output_shape", dims_value(result.dims)},
          {"bias", conv.bias},
          {"bytes_per_element", bytes},
          {"transposed_conv", false}};
}

// The parameters of a kernel's op on the sheet of its category; nothing when the op has no model.
std::optional<std::vector<Param>> params_of(const JaxKernels& kernels, const JaxKernel& kernel) {
  if (kernel.op == nullptr || !kernel.op->work) return std::nullopt;
  const JaxOp& op = *kernel.op;
  if (op.gemm && kernel.category == "GEMM") return gemm_params(op, kernels.name(kernel));
  if (op.attention) return attention_params(op);
  if (op.conv && kernel.category == "Conv") return conv_params(op);
  return std::nullopt;
}

struct Row {
  const JaxKernel* kernel;
  std::vector<Param> params;
};

void add_stats(RowCells& row, const GroupStats& stats, bool with_sum) {
  for (const auto& value : {stats.mean, stats.median, stats.std, stats.min, stats.max})
    row.add(value);
  if (with_sum) row.add(stats.sum);
}

std::vector<ColumnSpec> sheet_columns(const std::vector<std::string>& params) {
  std::vector<ColumnSpec> columns{{"name", Kind::kText, "", "kernel"}};
  for (const std::string& param : params)
    columns.push_back({"param: " + param, Kind::kNested, "", "parameter of the HLO op"});
  columns.push_back({"GFLOPS_first", Kind::kReal, "GFLOP", "10^9 operations of one run of the op"});
  columns.push_back(
      {"Data Moved (MB)_first", Kind::kReal, "MiB", "2^20 bytes it reads and writes"});
  columns.push_back({"FLOPS/Byte_first", Kind::kReal, "", "operations per byte"});
  for (const char* rate : {"TB/s", "TFLOPS/s"})
    for (const char* stat : {"mean", "median", "std", "min", "max"})
      columns.push_back(
          {std::string{rate} + "_" + stat, Kind::kReal, rate,
           std::string{stat} + " over the runs, by the time of all the op's kernels"});
  columns.push_back({"process_name_first", Kind::kText, "", "GPU"});
  columns.push_back({"process_label_first", Kind::kText, "", "label of its process"});
  columns.push_back({"thread_name_first", Kind::kText, "", "stream"});
  columns.push_back({"kernel_details__summarize_kernel_stats", Kind::kNested, "", "the kernel"});
  columns.push_back({"Input Dims_first", Kind::kNested, "", "shapes of the op's operands"});
  columns.push_back({"Input type_first", Kind::kNested, "", "their types"});
  for (const char* stat : {"mean", "median", "std", "min", "max", "sum"})
    columns.push_back({std::string{"Kernel Time (µs)_"} + stat, Kind::kReal, "µs",
                       std::string{stat} + " of this kernel's own time"});
  columns.push_back({"name_count", Kind::kInteger, "", "runs"});
  columns.push_back({"UID_first", Kind::kInteger, "id", "the first of them"});
  return columns;
}

std::string label_of(const Trace& trace, const Track& track, std::string_view what) {
  const auto label = trace.label(track, what);
  return label && label->is_text() ? label->as_text() : std::string{"Unknown"};
}

void add_group(Table& table, const JaxKernels& kernels, const std::vector<std::string>& params,
               const std::vector<const Row*>& group) {
  const JaxKernel& first = *group.front()->kernel;
  const Work& work = *first.op->work;
  std::vector<double> bandwidth, rate;
  std::vector<std::int64_t> times;
  std::vector<const JaxKernel*> members;
  for (const Row* row : group) {
    const auto seconds = static_cast<double>(row->kernel->op_ns) / 1e9;
    if (seconds > 0) rate.push_back(work.flops / 1e12 / seconds);
    if (seconds > 0 && work.bytes) bandwidth.push_back(*work.bytes / 1e12 / seconds);
    times.push_back(row->kernel->dur_ns);
    members.push_back(row->kernel);
  }
  RowCells row;
  row.add(kernels.name(first));
  for (const std::string& param : params) {
    const auto found = std::ranges::find(group.front()->params, param, &Param::name);
    if (found == group.front()->params.end())
      row.add(kMissing);
    else
      row.add(found->value);
  }
  row.add(work.flops / 1e9);
  row.add(work.bytes ? std::optional{*work.bytes / (1024.0 * 1024.0)} : std::nullopt);
  row.add(work.bytes && *work.bytes > 0 ? std::optional{work.flops / *work.bytes} : std::nullopt);
  add_stats(row, stats_of(bandwidth), false);
  add_stats(row, stats_of(rate), false);
  const Trace& trace = kernels.trace();
  const Track& track = trace.track(first.event);
  row.add(label_of(trace, {track.pid, Value{0}}, "process_name"));
  row.add(label_of(trace, {track.pid, Value{0}}, "process_labels"));
  row.add(label_of(trace, track, "thread_name"));
  row.add(jax_details_summary(kernels, members, false));
  row.add(first.op->dims);
  row.add(first.op->types);
  const GroupStats time_stats = stats_of_ns(times);
  add_stats(row, time_stats, true);
  row.add(time_stats.count);
  row.add(first.uid);
  table.append(row.cells());
}

std::optional<Table> sheet(const JaxKernels& kernels, std::string_view category) {
  std::vector<Row> rows;
  std::vector<std::string> names;  // of all parameters, as they first come up
  for (const JaxKernel& kernel : kernels.all()) {
    if (kernel.category != category) continue;
    auto params = params_of(kernels, kernel);
    if (!params) continue;
    for (const Param& param : *params)
      if (std::ranges::find(names, param.name) == names.end()) names.push_back(param.name);
    rows.push_back({&kernel, *std::move(params)});
  }
  if (rows.empty()) return std::nullopt;
  std::unordered_map<std::string, std::size_t> index;
  std::vector<std::vector<const Row*>> groups;
  for (const Row& row : rows) {
    std::string key{kernels.name(*row.kernel)};
    for (const Param& param : row.params)
      key.append("\n").append(param.name).append("=").append(python_repr(param.value));
    const auto [entry, is_new] = index.try_emplace(std::move(key), groups.size());
    if (is_new) groups.emplace_back();
    groups[entry->second].push_back(&row);
  }
  std::string name = "op_" + io::lower_case(category);
  std::ranges::replace(name, ' ', '_');
  Table table{name, "Work and rates of the ops of category " + std::string{category},
              sheet_columns(names)};
  for (const auto& group : groups) add_group(table, kernels, names, group);
  const SortKey order[] = {{"Kernel Time (µs)_sum", Order::kDescending},
                           {"UID_first", Order::kAscending}};
  table.sort_by(order);
  return table;
}

}  // namespace

std::vector<Table> jax_op_sheets(const JaxKernels& kernels) {
  std::vector<Table> tables;
  for (const std::string_view category : jax_categories())
    if (!contains(category, "Communication"))
      if (auto table = sheet(kernels, category)) tables.push_back(*std::move(table));
  return tables;
}

}  // namespace tracelens
