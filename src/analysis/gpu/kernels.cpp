#include "analysis/gpu/kernels.hpp"

#include <algorithm>
#include <tracelens/table_text.hpp>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/gpu/busy_time.hpp"
#include "analysis/gpu/histogram.hpp"
#include "analysis/kit/cells.hpp"
#include "analysis/kit/group_rows.hpp"
#include "io/ascii.hpp"
#include "tree/numbered_set.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

const ColumnSpec kCategory{"Parent op category", Kind::kText, "",
                           "category of the op; graph or runtime when no op encloses the launch"};
const ColumnSpec kOp{"Parent cpu_op", Kind::kText, "",
                     "innermost op around the launch, or the launching call"};
const ColumnSpec kKernel{"Kernel name", Kind::kText, "", "kernel name as traced"};
const ColumnSpec kStream{"Kernel stream", Kind::kInteger, "id", "stream the kernel ran on"};

// Sum, count and extremes of a group's durations.
struct Durations {
  std::int64_t sum_ns = 0, min_ns = 0, max_ns = 0;
  std::int64_t count = 0;
  void add(std::int64_t ns) {
    min_ns = count == 0 ? ns : std::min(min_ns, ns);
    max_ns = count == 0 ? ns : std::max(max_ns, ns);
    sum_ns = plus_ns(sum_ns, ns);
    ++count;
  }
  [[nodiscard]] double mean_us() const { return us(sum_ns) / static_cast<double>(count); }
};

// --- kernel_summary ---

struct SummaryGroup {
  std::string_view category;  // no data: none
  StringId op, kernel;
  std::int64_t stream = kAbsent;
  Durations durations = {};
};

// Kernels with the same category, op, name and stream, in the order of their first ones.
class SummaryGroups {
 public:
  void add(const SummaryGroup& key, std::int64_t dur_ns) {
    const auto category = std::ranges::find(categories_, key.category);
    const auto category_id = static_cast<std::uint32_t>(category - categories_.begin());
    if (category == categories_.end()) categories_.push_back(key.category);
    const auto stream = static_cast<std::uint64_t>(key.stream);
    const std::uint32_t id = index_.id_of({category_id, key.op.row, key.kernel.row,
                                           static_cast<std::uint32_t>(stream >> 32),
                                           static_cast<std::uint32_t>(stream), 0, 0, 0});
    if (id == groups_.size()) groups_.push_back(key);
    groups_[id].durations.add(dur_ns);
  }
  std::vector<SummaryGroup> take() && { return std::move(groups_); }

 private:
  KeyIndex index_;
  std::vector<std::string_view> categories_;  // static texts, a few dozen
  std::vector<SummaryGroup> groups_;
};

std::string_view call_category(std::string_view call) {
  const bool is_graph = io::contains_ignoring_case(call, "cudagraph") ||
                        io::contains_ignoring_case(call, "graphlaunch");
  return is_graph ? "graph" : "runtime";
}

// Text of a key column for sorting: missing ones stand last.
std::pair<bool, std::string_view> sort_text(const Trace& trace, StringId id) {
  return {!id.valid(), id.valid() ? trace.text(id) : std::string_view{}};
}

// Of the GPU events charged to a node itself, not to one below it, the earliest. Communication kernels are
// charged to nobody.
class FirstKernels {
 public:
  explicit FirstKernels(const TraceFacts& facts) : launching_{facts.tree().size()} {
    const std::span<const EventId> gpu_events = facts.tree().linked_gpu_events();
    const std::span<const NodeId> launchers = facts.launchers();
    const GpuWorkKinds& kinds = facts.work();
    for (const NodeId node : launchers) launching_.add(node.row);
    launching_.number();
    firsts_.resize(launching_.size());
    for (std::size_t i = 0; i < gpu_events.size(); ++i) {
      const EventId gpu = gpu_events[i];
      if (kinds.is_communication(gpu)) continue;
      EventId& first = firsts_[launching_.number_of(launchers[i].row)];
      if (!first.valid() || starts_earlier(facts.trace(), gpu, first)) first = gpu;
    }
  }
  // Invalid: there is none.
  [[nodiscard]] EventId of(NodeId node) const {
    return launching_.contains(node.row) ? firsts_[launching_.number_of(node.row)] : EventId{};
  }

 private:
  // Of equal starts the order of the file decides.
  static bool starts_earlier(const Trace& trace, EventId a, EventId b) {
    const std::int64_t start_a = trace.ts_ns()[a.row], start_b = trace.ts_ns()[b.row];
    return start_a != start_b ? start_a < start_b : a < b;
  }

  NumberedSet launching_;        // nodes
  std::vector<EventId> firsts_;  // by number of the node
};

}  // namespace

KernelRows collect_kernels(const TraceFacts& facts, const perf::RunModels& models) {
  const Trace& trace = facts.trace();
  const Tree& tree = facts.tree();
  KernelRows rows;
  std::vector<EventId> events;
  for (std::uint32_t row = 0; row < trace.size(); ++row)
    if (trace.categories()[row] == Category::kKernel && trace.phases()[row] == Phase::kComplete)
      events.push_back({row});
  const std::vector<std::int64_t> streams = gather(trace.streams(), events);
  const FirstKernels first_kernels{facts};
  // The category depends on the op's name and the name of its first kernel.
  std::unordered_map<std::uint64_t, std::string_view> categories;
  rows.reserve(events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    const EventId event = events[i];
    KernelRow row{.event = event,
                  .name = trace.names()[event.row],
                  .dur_ns = duration_of(trace, event),
                  .stream = streams[i],
                  .launch = tree.launch_of(event),
                  .op = {},
                  .op_category = {}};
    if (const NodeId node = tree.node(event); node.valid()) {
      if (const NodeId op = tree.nearest_op(node); op.valid()) {
        row.op = tree.event(op);
        const EventId first = first_kernels.of(op);
        const StringId op_name = trace.names()[row.op.row];
        const StringId first_name = first.valid() ? trace.names()[first.row] : StringId{};
        const std::uint64_t key = std::uint64_t{op_name.row} << 32 | first_name.row;
        const auto [entry, added] = categories.try_emplace(key);
        if (added) {
          const std::string_view op_text = trace.text(op_name),
                                 kernel =
                                     first.valid() ? trace.text(first_name) : std::string_view{};
          entry->second = models.own_category(op_text, kernel);
          if (entry->second.empty()) entry->second = models.category(op_text, kernel);
        }
        row.op_category = entry->second;
      }
    }
    rows.push_back(row);
  }
  return rows;
}

std::optional<Table> kernel_summary(const Trace& trace, const KernelRows& kernels,
                                    std::int64_t total_ns, const KernelRules* rules) {
  if (kernels.empty()) return std::nullopt;
  bool any_op = false, any_launch = false, any_stream = false;
  std::int64_t kernels_ns = 0;
  for (const KernelRow& row : kernels) {
    any_op |= row.op.valid();
    any_launch |= row.launch.valid();
    any_stream |= row.stream != kAbsent;
    kernels_ns = plus_ns(kernels_ns, row.dur_ns);
  }
  std::unordered_map<std::uint32_t, std::string_view> call_categories;  // by StringId
  SummaryGroups groups;
  for (const KernelRow& row : kernels) {
    SummaryGroup key{row.op_category, {}, row.name, row.stream};
    if (row.op.valid()) {
      key.op = trace.names()[row.op.row];
    } else if (row.launch.valid()) {
      const StringId call = trace.names()[row.launch.row];
      if (any_op) key.op = call;
      const auto [entry, added] = call_categories.try_emplace(call.row);
      if (added) entry->second = call_category(trace.text(call));
      key.category = entry->second;
    }
    groups.add(key, row.dur_ns);
  }
  std::vector<SummaryGroup> sorted = std::move(groups).take();
  std::ranges::sort(sorted, [&](const SummaryGroup& a, const SummaryGroup& b) {
    if (a.durations.sum_ns != b.durations.sum_ns) return a.durations.sum_ns > b.durations.sum_ns;
    const auto order = [&](const SummaryGroup& group) {
      return std::tuple{group.category.empty(),     group.category,
                        sort_text(trace, group.op), sort_text(trace, group.kernel),
                        group.stream == kAbsent,    group.stream};
    };
    return order(a) < order(b);
  });

  const bool has_category = any_launch;
  std::vector<ColumnSpec> columns;
  if (has_category) columns.push_back(kCategory);
  if (any_op) columns.push_back(kOp);
  columns.push_back(kKernel);
  if (any_stream) columns.push_back(kStream);
  columns.insert(columns.end(),
                 {{"Kernel duration (µs)_sum", Kind::kReal, "µs", "sum over the group"},
                  {"Kernel duration (µs)_count", Kind::kInteger, "", "kernels in the group"},
                  {"Kernel duration (µs)_mean", Kind::kReal, "µs", "mean"},
                  {"Kernel duration (µs)_min", Kind::kReal, "µs", "shortest"},
                  {"Kernel duration (µs)_max", Kind::kReal, "µs", "longest"},
                  {"Percent of kernels time (%)", Kind::kReal, "%",
                   "share of the summed time of all kernels of the trace"},
                  {"Percent of total time (%)", Kind::kReal, "%",
                   "share of total_time in gpu_timeline; overlapping and unlinked kernels can add "
                   "up to more than 100"}});
  if (rules != nullptr)
    columns.push_back({"kernel_category", Kind::kText, "", "kind of work, by the kernel's name"});
  std::optional<KernelCategories> kernel_categories;
  if (rules != nullptr) kernel_categories.emplace(trace, TorchKernelKinds{*rules});
  Table table{"kernel_summary", "GPU kernels by op, name and stream, the costliest first", columns};
  RowCells row;
  for (const auto& [category, op, kernel, stream, durations] : sorted) {
    row.clear();
    if (has_category) row.add(category.data() == nullptr ? std::nullopt : std::optional{category});
    if (any_op) row.add(op.valid() ? std::optional{trace.text(op)} : std::nullopt);
    row.add(trace.text(kernel));
    if (any_stream) row.add(stream == kAbsent ? std::nullopt : std::optional{stream});
    row.add(us(durations.sum_ns));
    row.add(durations.count);
    row.add(durations.mean_us());
    row.add(us(durations.min_ns));
    row.add(us(durations.max_ns));
    row.add(percent_of(durations.sum_ns, kernels_ns));
    row.add(percent_of(durations.sum_ns, total_ns));
    if (kernel_categories) row.add(kernel_categories->of(kernel));
    table.append(row.cells());
  }
  return table;
}

Table short_kernel_histogram(const KernelRows& kernels, const ShortKernelOptions& options) {
  const ColumnSpec columns[] = {
      {"bin_start", Kind::kReal, "µs", "shortest duration of the bin"},
      {"bin_end", Kind::kReal, "µs", "end of the bin; only the last bin includes it"},
      {"count", Kind::kInteger, "", "short kernels with such a duration"}};
  Table table{"short_kernel_histogram", "How many short kernels last how long", columns};
  std::vector<double> durations;
  for (const KernelRow& row : kernels)
    if (us(row.dur_ns) < options.threshold_us) durations.push_back(us(row.dur_ns));
  for (const auto& [start, end, count] :
       histogram(durations, std::max(1, options.histogram_bins), 0.5))
    table.add_row(start, end, count);
  return table;
}

namespace {

struct ShortGroup {
  std::uint32_t arguments = 0;  // op name and arguments; 0 in a GPU-only trace
  StringId kernel;
  Durations durations = {};
};

// Signatures that differ only in what the short-kernel table does not show count as one: each gets
// the id of the first such signature. Works on the few signatures in use, once each.
class ShownArguments {
 public:
  explicit ShownArguments(const Trace& trace) : trace_{trace} {}
  // No value when the op lacks one of the three arguments.
  std::optional<std::uint32_t> id(SignatureId signature) {
    if (!signature.valid()) return std::nullopt;
    const auto [entry, added] = ids_.try_emplace(signature.row);
    if (!added) return entry->second;
    const Signature& in = trace_.signature(signature);
    if (in.dims.is_null() || in.strides.is_null() || in.concrete.is_null()) return std::nullopt;
    std::string text = std::to_string(in.name.row);
    for (const Value* part : {&in.dims, &in.strides, &in.concrete})
      text += '\n' + python_repr(*part);
    entry->second = texts_.try_emplace(std::move(text), signature.row).first->second;
    return entry->second;
  }

 private:
  const Trace& trace_;
  std::unordered_map<std::uint32_t, std::optional<std::uint32_t>> ids_;
  std::unordered_map<std::string, std::uint32_t> texts_;
};

}  // namespace

Table short_kernels_summary(const TraceFacts& facts, const KernelRows& kernels,
                            std::int64_t total_ns, const ShortKernelOptions& options) {
  const Trace& trace = facts.trace();
  const bool gpu_only = facts.tree().stats().gpu_only;
  KeyIndex index;
  std::vector<ShortGroup> groups;
  const auto add = [&](std::uint32_t arguments, const KernelRow& row) {
    const std::uint32_t id = index.id_of({arguments, row.name.row, 0, 0, 0, 0, 0, 0});
    if (id == groups.size()) groups.push_back({.arguments = arguments, .kernel = row.name});
    groups[id].durations.add(row.dur_ns);
  };
  ShownArguments arguments{trace};
  for (const KernelRow& row : kernels) {
    if (us(row.dur_ns) >= options.threshold_us) continue;
    if (gpu_only) {
      add(0, row);
    } else if (row.op.valid()) {
      if (const auto id = arguments.id(trace.signatures()[row.op.row])) add(*id, row);
    }
  }
  // Costliest first; of equal sums the group with fewer kernels, then the one seen first.
  std::ranges::stable_sort(groups, {}, [](const ShortGroup& group) {
    return std::pair{-group.durations.sum_ns, group.durations.count};
  });
  if (options.top_rows && groups.size() > *options.top_rows) groups.resize(*options.top_rows);

  std::vector<ColumnSpec> columns;
  if (!gpu_only)
    columns = {kOp,
               {"Input dims", Kind::kNested, "", "shapes of the op's arguments"},
               {"Input strides", Kind::kNested, "", "strides of the op's arguments"},
               {"Concrete Inputs", Kind::kNested, "", "values of the op's scalar arguments"}};
  columns.push_back(kKernel);
  columns.insert(
      columns.end(),
      {{"Short Kernel duration (µs) sum", Kind::kReal, "µs", "sum over the group's short kernels"},
       {"Short Kernel count", Kind::kInteger, "", "short kernels in the group"},
       {"Short Kernel duration (µs) mean", Kind::kReal, "µs", "mean"},
       {"Short Kernel duration (µs) percent of total time", Kind::kReal, "%",
        "share of total_time in gpu_timeline"}});
  Table table{"short_kernels_summary",
              "Kernels so short that launching them may cost more than running them", columns};
  RowCells row;
  for (const auto& [shown, kernel, durations] : groups) {
    row.clear();
    if (!gpu_only) {
      const Signature& signature = trace.signature({shown});
      row.add(trace.text(signature.name));
      for (const Value* part : {&signature.dims, &signature.strides, &signature.concrete})
        row.add(*part);
    }
    row.add(trace.text(kernel));
    row.add(us(durations.sum_ns));
    row.add(durations.count);
    row.add(durations.mean_us());
    row.add(percent_of(durations.sum_ns, total_ns));
    table.append(row.cells());
  }
  return table;
}

}  // namespace tracelens
