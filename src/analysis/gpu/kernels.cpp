#include "analysis/gpu/kernels.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/gpu/launchers.hpp"
#include "analysis/gpu/work.hpp"
#include "analysis/kit/cells.hpp"
#include "io/ascii.hpp"
#include "table/cell_text.hpp"
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

// Groups kernels by a key of integers; groups keep the order of their first kernel.
template <class Key>
class Groups {
 public:
  Durations& operator[](const Key& key) {
    const auto [entry, added] = index_.try_emplace(key, groups_.size());
    if (added) groups_.push_back({key, {}});
    return groups_[entry->second].second;
  }
  std::vector<std::pair<Key, Durations>> take() && { return std::move(groups_); }

 private:
  std::unordered_map<Key, std::size_t, typename Key::Hash> index_;
  std::vector<std::pair<Key, Durations>> groups_;
};

std::size_t mix(std::size_t seed, std::uint64_t value) {
  std::uint64_t hash = (seed ^ value) * 0x9e3779b97f4a7c15U;
  return static_cast<std::size_t>(hash ^ (hash >> 29));
}

// --- kernel_summary ---

struct SummaryKey {
  std::string_view category;  // static text
  StringId op, kernel;
  std::int64_t stream = kAbsent;
  bool operator==(const SummaryKey&) const = default;
  struct Hash {
    std::size_t operator()(const SummaryKey& key) const {
      std::size_t hash = mix(key.category.size(), key.op.row);
      hash = mix(hash, key.kernel.row);
      return mix(hash, static_cast<std::uint64_t>(key.stream));
    }
  };
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

}  // namespace

KernelRows collect_kernels(const Trace& trace, const Tree& tree, Edition edition) {
  KernelRows rows;
  std::vector<EventId> events;
  for (std::uint32_t row = 0; row < trace.size(); ++row)
    if (trace.categories()[row] == Category::kKernel && trace.phases()[row] == Phase::kComplete)
      events.push_back({row});
  const std::vector<std::int64_t> streams = gather(trace.streams(), events);
  const Launchers launchers{trace, tree};
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
        const EventId first = launchers.first_kernel(op);
        const StringId op_name = trace.names()[row.op.row];
        const StringId first_name = first.valid() ? trace.names()[first.row] : StringId{};
        const std::uint64_t key = std::uint64_t{op_name.row} << 32 | first_name.row;
        const auto [entry, added] = categories.try_emplace(key);
        if (added)
          entry->second = perf::op_category(
              trace.text(op_name), first.valid() ? trace.text(first_name) : std::string_view{},
              edition);
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
  Groups<SummaryKey> groups;
  for (const KernelRow& row : kernels) {
    SummaryKey key{row.op_category, {}, row.name, row.stream};
    if (row.op.valid()) {
      key.op = trace.names()[row.op.row];
    } else if (row.launch.valid()) {
      const StringId call = trace.names()[row.launch.row];
      if (any_op) key.op = call;
      const auto [entry, added] = call_categories.try_emplace(call.row);
      if (added) entry->second = call_category(trace.text(call));
      key.category = entry->second;
    }
    groups[key].add(row.dur_ns);
  }
  auto sorted = std::move(groups).take();
  std::ranges::sort(sorted, [&](const auto& a, const auto& b) {
    if (a.second.sum_ns != b.second.sum_ns) return a.second.sum_ns > b.second.sum_ns;
    const auto order = [&](const SummaryKey& key) {
      return std::tuple{key.category.empty(),     key.category,
                        sort_text(trace, key.op), sort_text(trace, key.kernel),
                        key.stream == kAbsent,    key.stream};
    };
    return order(a.first) < order(b.first);
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
  if (rules != nullptr) kernel_categories.emplace(trace, *rules);
  Table table{"kernel_summary", "GPU kernels by op, name and stream, the costliest first", columns};
  for (const auto& [key, durations] : sorted) {
    std::vector<Cell> cells;
    const auto text = [&](std::string_view value) {
      cells.push_back(value.data() == nullptr ? Cell{kMissing} : Cell{std::string{value}});
    };
    if (has_category) text(key.category);
    if (any_op) text(key.op.valid() ? trace.text(key.op) : std::string_view{});
    cells.emplace_back(std::string{trace.text(key.kernel)});
    if (any_stream) cells.push_back(key.stream == kAbsent ? Cell{kMissing} : Cell{key.stream});
    const auto share = [&](std::optional<double> value) {
      cells.push_back(value ? Cell{*value} : Cell{kMissing});
    };
    cells.emplace_back(us(durations.sum_ns));
    cells.emplace_back(durations.count);
    cells.emplace_back(durations.mean_us());
    cells.emplace_back(us(durations.min_ns));
    cells.emplace_back(us(durations.max_ns));
    share(percent_of(durations.sum_ns, kernels_ns));
    share(percent_of(durations.sum_ns, total_ns));
    if (kernel_categories) cells.emplace_back(std::string{kernel_categories->of(key.kernel)});
    table.append(cells);
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
  if (durations.empty()) return table;

  auto [low, high] = std::ranges::minmax(durations);
  if (low == high) {
    low -= 0.5;
    high += 0.5;
  }
  const auto bins = static_cast<std::size_t>(std::max(1, options.histogram_bins));
  const double count = static_cast<double>(bins), step = (high - low) / count;
  const auto edge = [&, low = low, high = high](std::size_t i) {
    return i == bins ? high : static_cast<double>(i) * step + low;
  };
  std::vector<std::int64_t> counts(bins);
  for (const double x : durations) {
    auto bin = static_cast<std::size_t>((x - low) * (count / (high - low)));
    bin = std::min(bin, bins - 1);
    // The product above may be off by a rounding error: the edges decide.
    if (x < edge(bin))
      --bin;
    else if (bin + 1 < bins && x >= edge(bin + 1))
      ++bin;
    ++counts[bin];
  }
  for (std::size_t i = 0; i < bins; ++i) table.add_row(edge(i), edge(i + 1), counts[i]);
  return table;
}

namespace {

struct ShortKey {
  std::uint32_t arguments = 0;  // op name and arguments; 0 in a GPU-only trace
  StringId kernel;
  bool operator==(const ShortKey&) const = default;
  struct Hash {
    std::size_t operator()(const ShortKey& key) const { return mix(key.arguments, key.kernel.row); }
  };
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

Table short_kernels_summary(const Trace& trace, const Tree& tree, const KernelRows& kernels,
                            std::int64_t total_ns, const ShortKernelOptions& options) {
  const bool gpu_only = tree.stats().gpu_only;
  Groups<ShortKey> groups;
  ShownArguments arguments{trace};
  for (const KernelRow& row : kernels) {
    if (us(row.dur_ns) >= options.threshold_us) continue;
    if (gpu_only) {
      groups[{0, row.name}].add(row.dur_ns);
    } else if (row.op.valid()) {
      if (const auto id = arguments.id(trace.signatures()[row.op.row]))
        groups[{*id, row.name}].add(row.dur_ns);
    }
  }
  auto sorted = std::move(groups).take();
  // Costliest first; of equal sums the group with fewer kernels, then the one seen first.
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) {
    if (a.second.sum_ns != b.second.sum_ns) return a.second.sum_ns > b.second.sum_ns;
    return a.second.count < b.second.count;
  });
  if (options.top_rows && sorted.size() > *options.top_rows) sorted.resize(*options.top_rows);

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
  for (const auto& [key, durations] : sorted) {
    std::vector<Cell> cells;
    if (!gpu_only) {
      const Signature& signature = trace.signature({key.arguments});
      cells = {std::string{trace.text(signature.name)}, signature.dims, signature.strides,
               signature.concrete};
    }
    cells.emplace_back(std::string{trace.text(key.kernel)});
    cells.emplace_back(us(durations.sum_ns));
    cells.emplace_back(durations.count);
    cells.emplace_back(durations.mean_us());
    const auto share = percent_of(durations.sum_ns, total_ns);
    cells.push_back(share ? Cell{*share} : Cell{kMissing});
    table.append(cells);
  }
  return table;
}

}  // namespace tracelens
