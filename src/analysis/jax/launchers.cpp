#include "analysis/jax/launchers.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tracelens/table_text.hpp>
#include <unordered_map>
#include <utility>

#include "analysis/kit/cells.hpp"
#include "analysis/kit/group_stats.hpp"
#include "facts/kernel_names.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

const std::string kNothing = "NA";

// The groups of kernels with equal keys, in the order of their first kernels.
using Group = std::vector<const JaxKernel*>;
template <class KeyOf>
std::vector<std::pair<std::string, Group>> group_by(std::span<const JaxKernel> kernels,
                                                    KeyOf key_of) {
  std::vector<std::pair<std::string, Group>> groups;
  std::unordered_map<std::string, std::size_t> index;
  for (const JaxKernel& kernel : kernels) {
    std::string key = key_of(kernel);
    const auto [entry, is_new] = index.try_emplace(key, groups.size());
    if (is_new) groups.emplace_back(std::move(key), Group{});
    groups[entry->second].second.push_back(&kernel);
  }
  return groups;
}

std::int64_t sum_ns(const Group& group) {
  std::int64_t sum = 0;
  for (const JaxKernel* kernel : group) sum = plus_ns(sum, kernel->dur_ns);
  return sum;
}

std::int64_t total_ns(std::span<const JaxKernel> kernels) {
  std::int64_t sum = 0;
  for (const JaxKernel& kernel : kernels) sum = plus_ns(sum, kernel.dur_ns);
  return sum;
}

Value operand_list(const JaxOp* op) {
  if (op == nullptr || op->instruction == nullptr) return kNothing;
  std::vector<Value> texts;
  for (const std::string& operand : op->operands) texts.emplace_back(operand);
  return Value::list(std::move(texts));
}

// What the HLO op says, for kernel_details. The output goes by the name the Python TraceLens looks
// it up by, under which it never finds it.
void add_op_details(const JaxOp* op, std::vector<std::string>& keys, std::vector<Value>& values) {
  const bool is_known = op != nullptr && op->instruction != nullptr;
  for (const char* key : {"custom_call_target", "operands", "outputs", "metadata"})
    keys.emplace_back(key);
  values.emplace_back(is_known ? op->target : kNothing);
  values.push_back(operand_list(op));
  values.emplace_back(kNothing);
  values.emplace_back(is_known ? op->metadata : kNothing);
}

Value kernel_details(const JaxKernels& kernels, const JaxKernel& kernel) {
  std::vector<std::string> keys{"name", "dur"};
  std::vector<Value> values{std::string{kernels.name(kernel)}, us(kernel.dur_ns)};
  add_op_details(kernel.op, keys, values);
  return Value::list({Value::dict(std::move(keys), std::move(values))});
}

Value dims_of(const JaxKernel& kernel) {
  return kernel.op == nullptr ? Value::tuple({}) : kernel.op->dims;
}
Value types_of(const JaxKernel& kernel) {
  return kernel.op == nullptr ? Value::tuple({}) : kernel.op->types;
}
// Of TransformerEngine attention: the shape of its bias, the fourth operand.
Value concrete_of(const JaxKernel& kernel) {
  const bool is_attention =
      kernel.op != nullptr && kernel.op->instruction != nullptr &&
      kernel.op->instruction->target.find("te_fused_attn") != std::string::npos;
  if (!is_attention || kernel.op->dims.items().size() < 4) return Value::tuple({});
  return Value::tuple({kernel.op->dims.items()[3]});
}

std::vector<ColumnSpec> launcher_columns() {
  return {{"name", Kind::kText, "", "kernel"},
          {"UID", Kind::kInteger, "id", "number of the event in the profile"},
          {"op category", Kind::kText, "", "by words in the names of the kernel and its HLO op"},
          {"total_direct_kernel_time", Kind::kReal, "µs", "how long the kernel ran"},
          {"total_subtree_kernel_time", Kind::kReal, "µs", "the same"},
          {"direct_kernel_count", Kind::kInteger, "", "always 1"},
          {"pid", Kind::kInteger, "id", "1 + number of the GPU"},
          {"tid", Kind::kInteger, "id", "stream"},
          {"Input Dims", Kind::kNested, "", "shapes of the HLO op's operands"},
          {"Input type", Kind::kNested, "", "their types"},
          {"Input Strides", Kind::kNested, "", "always empty"},
          {"Concrete Inputs", Kind::kNested, "", "shape of the bias of fused attention"},
          {"kernel_details", Kind::kNested, "", "the kernel with what its HLO op says"},
          {"GPU_kernel_launch_latency", Kind::kReal, "µs",
           "from the start of its launch on the host to its own; may be below 0 where the two "
           "clocks differ"}};
}

void add_launcher(RowCells& row, const JaxKernels& kernels, const JaxKernel& kernel) {
  row.clear();
  row.add(kernels.name(kernel));
  row.add(kernel.uid);
  row.add(kernel.category);
  row.add(us(kernel.dur_ns));
  row.add(us(kernel.dur_ns));
  row.add(std::int64_t{1});
  row.add(kernel.pid);
  row.add(kernel.tid);
  row.add(dims_of(kernel));
  row.add(types_of(kernel));
  row.add(Value::tuple({}));
  row.add(concrete_of(kernel));
  row.add(kernel_details(kernels, kernel));
  row.add(kernel.latency_ns ? std::optional{us(*kernel.latency_ns)} : std::nullopt);
}

Table launchers(const JaxKernels& kernels) {
  Table table{"kernel_launchers", "Every kernel, with its HLO op's operands", launcher_columns()};
  RowCells row;
  for (const JaxKernel& kernel : kernels.all()) {
    add_launcher(row, kernels, kernel);
    table.append(row.cells());
  }
  return table;
}

Table xla_perf(const JaxKernels& kernels) {
  std::vector<ColumnSpec> columns = launcher_columns();
  columns.push_back({"total_input_bytes", Kind::kInteger, "bytes", "size of the array operands"});
  Table table{"df_xla_perf", "The kernels of no category, with the bytes they read", columns};
  RowCells row;
  for (const JaxKernel& kernel : kernels.all()) {
    if (kernel.category != kUncategorizedXla) continue;
    add_launcher(row, kernels, kernel);
    row.add(static_cast<std::int64_t>(kernel.op == nullptr ? 0 : kernel.op->input_bytes));
    table.append(row.cells());
  }
  return table;
}

// Kernels summed up by a name: the tables kernel_launchers_summary and xla_summary.
template <class NameOf>
Table summary(std::string table_name, std::string description, std::span<const JaxKernel> kernels,
              std::size_t gpus, NameOf name_of) {
  std::vector<ColumnSpec> columns{
      {"name", Kind::kText, "", "kernel"},
      {"total_direct_kernel_time_sum", Kind::kReal, "µs", "time of all its runs"},
      {"total_subtree_kernel_time_sum", Kind::kReal, "µs", "the same"},
      {"Count", Kind::kInteger, "", "runs"},
      {"total_direct_kernel_time_ms", Kind::kReal, "ms", "time of all its runs"},
      {"total_subtree_kernel_time_ms", Kind::kReal, "ms", "the same"},
      {"Categories", Kind::kNested, "", "categories of its runs"}};
  RunningShare::add_columns(columns, "kernel time");
  columns.push_back({"time ms per gpu", Kind::kReal, "ms", "by the GPUs that ran any kernel"});
  auto groups = group_by(kernels, name_of);
  std::ranges::sort(groups, {}, &std::pair<std::string, Group>::first);
  std::ranges::stable_sort(groups, std::ranges::greater{},
                           [](const auto& group) { return sum_ns(group.second); });
  Table table{std::move(table_name), std::move(description), columns};
  RunningShare share{static_cast<double>(total_ns(kernels))};
  for (const auto& [name, group] : groups) {
    const std::int64_t sum = sum_ns(group);
    std::set<std::string_view> distinct;
    for (const JaxKernel* kernel : group) distinct.insert(kernel->category);
    std::vector<Value> categories;
    for (const std::string_view category : distinct) categories.emplace_back(std::string{category});
    RowCells row;
    row.add(name);
    row.add(us(sum));
    row.add(us(sum));
    row.add(static_cast<std::int64_t>(group.size()));
    row.add(us(sum) / 1e3);
    row.add(us(sum) / 1e3);
    row.add(Value::list(std::move(categories)));
    share.add_to(row, static_cast<double>(sum));
    row.add(us(sum) / 1e3 / static_cast<double>(gpus));
    table.append(row.cells());
  }
  return table;
}

Table by_category(const JaxKernels& kernels) {
  std::vector<ColumnSpec> columns{
      {"op category", Kind::kText, "", "by words in the names of the kernel and its HLO op"},
      {"Count", Kind::kInteger, "", "kernels that ran"},
      {"total_direct_kernel_time_ms", Kind::kReal, "ms", "their time"}};
  RunningShare::add_columns(columns, "kernel time");
  columns.push_back({"time ms per gpu", Kind::kReal, "ms", "by the GPUs that ran any kernel"});
  auto groups =
      group_by(kernels.all(), [](const JaxKernel& kernel) { return std::string{kernel.category}; });
  std::ranges::sort(groups, {}, &std::pair<std::string, Group>::first);
  std::ranges::stable_sort(groups, std::ranges::greater{},
                           [](const auto& group) { return sum_ns(group.second); });
  Table table{"kernel_launchers_summary_by_category", "Kernel time by category", columns};
  RunningShare share{static_cast<double>(total_ns(kernels.all()))};
  for (const auto& [category, group] : groups) {
    const std::int64_t sum = sum_ns(group);
    RowCells row;
    row.add(category);
    row.add(static_cast<std::int64_t>(group.size()));
    row.add(us(sum) / 1e3);
    share.add_to(row, static_cast<double>(sum));
    row.add(us(sum) / 1e3 / static_cast<double>(kernels.gpus()));
    table.append(row.cells());
  }
  return table;
}

Table unique_args(const JaxKernels& kernels) {
  std::vector<ColumnSpec> columns{
      {"name", Kind::kText, "", "kernel"},
      {"op category", Kind::kText, "", "by words in the names of the kernel and its HLO op"},
      {"Input Dims", Kind::kNested, "", "shapes of the HLO op's operands"},
      {"Input type", Kind::kNested, "", "their types"},
      {"Input Strides", Kind::kNested, "", "always empty"},
      {"Concrete Inputs", Kind::kNested, "", "shape of the bias of fused attention"},
      {"operation_count", Kind::kInteger, "", "runs"}};
  for (const char* stat : {"mean", "median", "std", "min", "max", "sum"})
    for (const char* which : {"total_direct_kernel_time_", "total_subtree_kernel_time_"})
      columns.push_back({std::string{which} + stat, Kind::kReal, "µs",
                         std::string{stat} + " of its runs' times"});
  columns.push_back({"ex_UID", Kind::kInteger, "id", "the first of them"});
  columns.push_back({"kernel_details_summary", Kind::kNested, "", "what the HLO op says"});
  RunningShare::add_columns(columns, "kernel time");

  auto groups = group_by(kernels.all(), [&](const JaxKernel& kernel) {
    std::string key{kernels.name(kernel)};
    for (const std::string& part :
         {std::string{kernel.category}, python_repr(dims_of(kernel)), python_repr(types_of(kernel)),
          python_repr(concrete_of(kernel))})
      key.append("\n").append(part);
    return key;
  });
  std::ranges::stable_sort(groups, std::ranges::greater{},
                           [](const auto& group) { return sum_ns(group.second); });
  Table table{"kernel_launchers_unique_args", "Kernels by the operands of their HLO ops", columns};
  RunningShare share{static_cast<double>(total_ns(kernels.all()))};
  for (const auto& [key, group] : groups) {
    const JaxKernel& first = *group.front();
    std::vector<std::int64_t> times;
    for (const JaxKernel* kernel : group) times.push_back(kernel->dur_ns);
    const GroupStats stats = stats_of_ns(times);
    RowCells row;
    row.add(kernels.name(first));
    row.add(first.category);
    row.add(dims_of(first));
    row.add(types_of(first));
    row.add(Value::tuple({}));
    row.add(concrete_of(first));
    row.add(stats.count);
    for (const auto& value :
         {stats.mean, stats.median, stats.std, stats.min, stats.max, std::optional{stats.sum}}) {
      row.add(value);
      row.add(value);
    }
    row.add(first.uid);
    row.add(jax_details_summary(kernels, group, true));
    share.add_to(row, static_cast<double>(sum_ns(group)));
    table.append(row.cells());
  }
  return table;
}

std::string without_digits(std::string_view name) {
  std::string text{name};
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return text;
}

}  // namespace

Value jax_details_summary(const JaxKernels& kernels, std::span<const JaxKernel* const> group,
                          bool details) {
  std::vector<std::int64_t> times;
  for (const JaxKernel* kernel : group) times.push_back(kernel->dur_ns);
  const GroupStats stats = stats_of_ns(times);
  std::vector<std::string> keys{"name"};
  std::vector<Value> values{std::string{kernels.name(*group.front())}};
  if (details) add_op_details(group.front()->op, keys, values);
  const auto add = [&](const char* key, Value value) {
    keys.emplace_back(key);
    values.push_back(std::move(value));
  };
  add("count", stats.count);
  add("total_duration_us", stats.sum);
  add("mean_duration_us", stats.mean.value_or(0));
  add("median_duration_us", stats.median.value_or(0));
  add("std_dev_duration_us", stats.population_std.value_or(0));
  add("min_duration_us", stats.min.value_or(0));
  add("max_duration_us", stats.max.value_or(0));
  return Value::list({Value::dict(std::move(keys), std::move(values))});
}

std::vector<Table> jax_launcher_tables(const JaxKernels& kernels) {
  std::vector<JaxKernel> xla;
  for (const JaxKernel& kernel : kernels.all())
    if (kernel.category == kUncategorizedXla) xla.push_back(kernel);
  std::set<std::int64_t> xla_gpus;
  for (const JaxKernel& kernel : xla) xla_gpus.insert(kernel.pid);
  std::vector<Table> tables;
  tables.push_back(launchers(kernels));
  tables.push_back(
      summary("kernel_launchers_summary", "Kernel time by name", kernels.all(), kernels.gpus(),
              [&](const JaxKernel& kernel) { return std::string{kernels.name(kernel)}; }));
  tables.push_back(by_category(kernels));
  tables.push_back(unique_args(kernels));
  tables.push_back(xla_perf(kernels));
  tables.push_back(summary(
      "xla_summary", "Kernels of no category, by name without its numbers", xla, xla_gpus.size(),
      [&](const JaxKernel& kernel) { return without_digits(kernels.name(kernel)); }));
  return tables;
}

}  // namespace tracelens
