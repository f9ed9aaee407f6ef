#include "analysis/jax/launchers.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
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

struct Group {
  std::string key;
  std::vector<const JaxKernel*> kernels = {};
  std::int64_t ns = 0;
};

// The groups of kernels with equal keys, in the order of their first kernels. Kernels of a kind have
// one key.
template <class IsWanted, class KeyOf>
std::vector<Group> group_by(const JaxKernels& kernels, IsWanted is_wanted, KeyOf key_of) {
  constexpr auto kNotYet = std::numeric_limits<std::size_t>::max();
  std::vector<Group> groups;
  std::unordered_map<std::string, std::size_t> index;
  std::vector<std::size_t> group_of_kind(kernels.kinds(), kNotYet);
  for (const JaxKernel& kernel : kernels.all()) {
    if (!is_wanted(kernel)) continue;
    std::size_t& group = group_of_kind[kernel.kind];
    if (group == kNotYet) {
      std::string key = key_of(kernel);
      const auto [entry, is_new] = index.try_emplace(key, groups.size());
      if (is_new) groups.push_back({std::move(key)});
      group = entry->second;
    }
    groups[group].kernels.push_back(&kernel);
    groups[group].ns = plus_ns(groups[group].ns, kernel.dur_ns);
  }
  return groups;
}
constexpr auto kAll = [](const JaxKernel&) { return true; };
constexpr auto kUncategorized = [](const JaxKernel& kernel) {
  return kernel.category == kUncategorizedXla;
};

void sort_by_time_then_key(std::vector<Group>& groups) {
  std::ranges::sort(groups, {}, &Group::key);
  std::ranges::stable_sort(groups, std::ranges::greater{}, &Group::ns);
}

std::int64_t total_ns(std::span<const Group> groups) {
  std::int64_t sum = 0;
  for (const Group& group : groups) sum = plus_ns(sum, group.ns);
  return sum;
}

// What the HLO op says, for kernel_details. The output goes by the name the Python TraceLens looks
// it up by, under which it never finds it.
constexpr const char* kOpDetails[] = {"custom_call_target", "operands", "outputs", "metadata"};

std::vector<Value> op_details(const JaxOp* op) {
  const Value nothing{kNothing};
  if (op == nullptr || op->instruction == nullptr) return {nothing, nothing, nothing, nothing};
  std::vector<Value> operands;
  for (const std::string& operand : op->operands) operands.emplace_back(operand);
  return {op->target, Value::list(std::move(operands)), nothing, op->metadata};
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

// The cells of a kernel. There are as many rows as kernels, and few kinds of them: all but the times
// is made once for a kind, and shared.
class LauncherCells {
 public:
  explicit LauncherCells(const JaxKernels& kernels) : kernels_{kernels}, kinds_(kernels.kinds()) {
    std::vector<std::string> keys{"name", "dur"};
    keys.insert(keys.end(), std::begin(kOpDetails), std::end(kOpDetails));
    keys_ = std::make_shared<const std::vector<std::string>>(std::move(keys));
  }

  void add_to(RowCells& row, const JaxKernel& kernel) {
    const OfKind& kind = of_kind(kernel);
    row.clear();
    row.add(kernels_.name(kernel));
    row.add(kernel.uid);
    row.add(kernel.category);
    row.add(us(kernel.dur_ns));
    row.add(us(kernel.dur_ns));
    row.add(std::int64_t{1});
    row.add(kernel.pid);
    row.add(kernel.tid);
    row.add(kind.dims);
    row.add(kind.types);
    row.add(none_);
    row.add(kind.concrete);
    std::vector<Value> details{kind.name, us(kernel.dur_ns)};
    details.insert(details.end(), kind.op.begin(), kind.op.end());
    row.add(Value::list({Value::dict_of(keys_, std::move(details))}));
    row.add(kernel.latency_ns ? std::optional{us(*kernel.latency_ns)} : std::nullopt);
  }

 private:
  struct OfKind {
    Value name, dims, types, concrete;
    std::vector<Value> op;
  };
  const OfKind& of_kind(const JaxKernel& kernel) {
    OfKind& kind = kinds_[kernel.kind];
    if (kind.op.empty())
      kind = {std::string{kernels_.name(kernel)}, dims_of(kernel), types_of(kernel),
              concrete_of(kernel), op_details(kernel.op)};
    return kind;
  }

  const JaxKernels& kernels_;
  Value::Keys keys_;
  const Value none_ = Value::tuple({});
  std::vector<OfKind> kinds_;
};

// The tables with a row for each kernel, if they are wanted.
class LauncherTables {
 public:
  LauncherTables(const JaxKernels& kernels, const WantsTable& wants)
      : kernels_{kernels}, wants_{wants}, cells_{kernels} {}

  void add_all(std::vector<Table>& tables) {
    Table table{"kernel_launchers", "Every kernel, with its HLO op's operands", launcher_columns()};
    if (!is_wanted(table, kernels_.all().size())) return;
    for (const JaxKernel& kernel : kernels_.all()) {
      cells_.add_to(row_, kernel);
      table.append(row_.cells());
    }
    tables.push_back(std::move(table));
  }

  void add_uncategorized(std::vector<Table>& tables) {
    std::vector<ColumnSpec> columns = launcher_columns();
    columns.push_back({"total_input_bytes", Kind::kInteger, "bytes", "size of the array operands"});
    Table table{"df_xla_perf", "The kernels of no category, with the bytes they read", columns};
    const auto rows = std::ranges::count_if(kernels_.all(), kUncategorized);
    if (!is_wanted(table, static_cast<std::size_t>(rows))) return;
    for (const JaxKernel& kernel : kernels_.all()) {
      if (!kUncategorized(kernel)) continue;
      cells_.add_to(row_, kernel);
      row_.add(static_cast<std::int64_t>(kernel.op == nullptr ? 0 : kernel.op->input_bytes));
      table.append(row_.cells());
    }
    tables.push_back(std::move(table));
  }

 private:
  [[nodiscard]] bool is_wanted(const Table& table, std::size_t rows) const {
    return !wants_ || wants_(table.name(), rows);
  }

  const JaxKernels& kernels_;
  const WantsTable& wants_;
  LauncherCells cells_;
  RowCells row_;
};

// Kernels summed up by a name: the tables kernel_launchers_summary and xla_summary.
Table summary(std::string table_name, std::string description, std::vector<Group> groups,
              std::size_t gpus) {
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
  sort_by_time_then_key(groups);
  Table table{std::move(table_name), std::move(description), columns};
  RunningShare share{static_cast<double>(total_ns(groups))};
  for (const auto& [name, members, sum] : groups) {
    std::set<std::string_view> distinct;
    for (const JaxKernel* kernel : members) distinct.insert(kernel->category);
    std::vector<Value> categories;
    for (const std::string_view category : distinct) categories.emplace_back(std::string{category});
    RowCells row;
    row.add(name);
    row.add(us(sum));
    row.add(us(sum));
    row.add(std::ssize(members));
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
      group_by(kernels, kAll, [](const JaxKernel& kernel) { return std::string{kernel.category}; });
  sort_by_time_then_key(groups);
  Table table{"kernel_launchers_summary_by_category", "Kernel time by category", columns};
  RunningShare share{static_cast<double>(total_ns(groups))};
  for (const auto& [category, members, sum] : groups) {
    RowCells row;
    row.add(category);
    row.add(std::ssize(members));
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

  auto groups = group_by(kernels, kAll, [&](const JaxKernel& kernel) {
    std::string key{kernels.name(kernel)};
    for (const std::string& part :
         {std::string{kernel.category}, python_repr(dims_of(kernel)), python_repr(types_of(kernel)),
          python_repr(concrete_of(kernel))})
      key.append("\n").append(part);
    return key;
  });
  std::ranges::stable_sort(groups, std::ranges::greater{}, &Group::ns);
  Table table{"kernel_launchers_unique_args", "Kernels by the operands of their HLO ops", columns};
  RunningShare share{static_cast<double>(total_ns(groups))};
  for (const auto& [key, members, sum] : groups) {
    const JaxKernel& first = *members.front();
    std::vector<std::int64_t> times;
    for (const JaxKernel* kernel : members) times.push_back(kernel->dur_ns);
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
    row.add(jax_details_summary(kernels, members, true));
    share.add_to(row, static_cast<double>(sum));
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
  if (details) {
    keys.insert(keys.end(), std::begin(kOpDetails), std::end(kOpDetails));
    std::ranges::move(op_details(group.front()->op), std::back_inserter(values));
  }
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

std::vector<Table> jax_launcher_tables(const JaxKernels& kernels, const WantsTable& wants) {
  std::set<std::int64_t> xla_gpus;
  for (const JaxKernel& kernel : kernels.all())
    if (kUncategorized(kernel)) xla_gpus.insert(kernel.pid);
  LauncherTables launchers{kernels, wants};
  std::vector<Table> tables;
  launchers.add_all(tables);
  tables.push_back(
      summary("kernel_launchers_summary", "Kernel time by name",
              group_by(kernels, kAll,
                       [&](const JaxKernel& kernel) { return std::string{kernels.name(kernel)}; }),
              kernels.gpus()));
  tables.push_back(by_category(kernels));
  tables.push_back(unique_args(kernels));
  launchers.add_uncategorized(tables);
  tables.push_back(summary(
      "xla_summary", "Kernels of no category, by name without its numbers",
      group_by(kernels, kUncategorized,
               [&](const JaxKernel& kernel) { return without_digits(kernels.name(kernel)); }),
      xla_gpus.size()));
  return tables;
}

}  // namespace tracelens
