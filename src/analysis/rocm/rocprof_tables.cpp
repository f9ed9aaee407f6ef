#include "analysis/rocm/rocprof_tables.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "analysis/gpu/work.hpp"
#include "analysis/kit/cells.hpp"
#include "analysis/kit/group_stats.hpp"
#include "analysis/kit/intervals.hpp"
#include "analysis/rocm/pftrace_events.hpp"
#include "analysis/rocm/rocprof_processes.hpp"
#include "io/ascii.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

struct CategoryRule {
  std::string_view category, word;
};
// The first word found in the name, whatever its case, decides.
constexpr CategoryRule kCategoryRules[] = {
    {"GEMM", "gemm"},        {"GEMM", "matmul"},
    {"GEMM", "cijk"},        {"Elementwise", "elementwise"},
    {"Reduction", "reduce"}, {"Reduction", "sum"},
    {"Convolution", "conv"}, {"Normalization", "norm"},
    {"Attention", "flash"},  {"Attention", "attn"},
    {"Attention", "fmha"},   {"Memory", "copy"},
};

// Kernels of one name, or of one category.
struct Group {
  std::string_view name;
  std::int64_t sum_ns = 0;
  std::int64_t count = 0;
  std::vector<std::int64_t> durations;
};

// In order of the names.
template <class NameOf>
std::vector<Group> group_by(const RocprofKernels& kernels, NameOf&& name_of) {
  std::map<std::string_view, Group> groups;
  for (const EventId event : kernels.events) {
    const std::int64_t ns = duration_of(kernels.trace, event);
    Group& group = groups[name_of(event)];
    group.sum_ns = plus_ns(group.sum_ns, ns);
    ++group.count;
    group.durations.push_back(ns);
  }
  std::vector<Group> result;
  for (auto& [name, group] : groups) {
    result.push_back(std::move(group));
    result.back().name = name;
  }
  return result;
}

// Percentage and its running sum of each group, by the order of the options.
struct Shares {
  std::vector<Group> groups;  // the longest first
  std::vector<std::pair<double, double>> shares;
};
Shares with_shares(std::vector<Group> groups, std::int64_t total_ns, bool cumulative_by_rows) {
  std::map<std::string_view, std::pair<double, double>> shares;
  const auto sum_up = [&] {
    double so_far = 0;
    for (const Group& group : groups) {
      const double share =
          percent_of(static_cast<double>(group.sum_ns), static_cast<double>(total_ns)).value_or(0);
      so_far += share;
      shares[group.name] = {share, so_far};
    }
  };
  if (!cumulative_by_rows) sum_up();
  std::ranges::stable_sort(groups, std::ranges::greater{}, &Group::sum_ns);
  if (cumulative_by_rows) sum_up();
  Shares result{std::move(groups), {}};
  for (const Group& group : result.groups) result.shares.push_back(shares[group.name]);
  return result;
}

std::vector<Interval> intervals_of(const RocprofKernels& kernels, Category category) {
  const Trace& trace = kernels.trace;
  std::vector<Interval> intervals;
  for (EventId event{kernels.first_row}; event.row < kernels.end_row; ++event.row)
    if (trace.category(event) == category && trace.ts_ns()[event.row] != kAbsent)
      intervals.push_back(interval_of(trace, event));
  return intervals;
}

// Durations below the threshold, in file order, with the name of their kernel.
std::vector<std::pair<StringId, std::int64_t>> short_kernels(const RocprofKernels& kernels,
                                                             double threshold_us) {
  std::vector<std::pair<StringId, std::int64_t>> found;
  for (const EventId event : kernels.events)
    if (const std::int64_t ns = duration_of(kernels.trace, event);
        static_cast<double>(ns) < threshold_us * 1e3)
      found.emplace_back(kernels.trace.names()[event.row], ns);
  return found;
}

}  // namespace

RocprofKernels::RocprofKernels(const Trace& the_trace, ProcessScope scope) : trace{the_trace} {
  std::vector<ProfiledProcess> taken = profiled_processes(trace);
  if (scope == ProcessScope::kFirst) taken.resize(1);
  processes = taken.size();
  first_row = taken.front().first_row;
  end_row = scope == ProcessScope::kFirst ? taken.front().counted_row : taken.back().end_row;
  // A process that does not tell its times must not stretch the run back to the start of the clock.
  if (processes > 1)
    std::erase_if(taken, [](const ProfiledProcess& process) { return process.fini_ns == 0; });
  if (!taken.empty())
    run_ns = minus_ns(std::ranges::max(taken, {}, &ProfiledProcess::fini_ns).fini_ns,
                      std::ranges::min(taken, {}, &ProfiledProcess::init_ns).init_ns);
  for (EventId event{first_row}; event.row < end_row; ++event.row)
    if (trace.category(event) == Category::kKernel) {
      events.push_back(event);
      total_ns = plus_ns(total_ns, duration_of(trace, event));
    }
}

std::string_view rocprof_category(std::string_view kernel) {
  for (const auto& [category, word] : kCategoryRules)
    if (io::contains_ignoring_case(kernel, word)) return category;
  return is_communication_name(kernel) ? "COMM" : "Other";
}

Table rocprof_gpu_timeline(const RocprofKernels& kernels) {
  const ColumnSpec columns[] = {
      {"type", Kind::kText, "", "what the time was spent on"},
      {"time ms", Kind::kReal, "ms", "time in which at least one was running"},
      {"percent", Kind::kReal, "%", "of the whole run, with its host-only parts"},
  };
  Table table{"gpu_timeline",
              "How the time of the profiled processes divides, from the first start to the last "
              "end, all GPUs together",
              columns};
  if (kernels.events.empty()) return table;
  const std::int64_t total = kernels.run_ns;
  std::vector<Interval> work = intervals_of(kernels, Category::kKernel);
  std::vector<Interval> copies = intervals_of(kernels, Category::kGpuMemcpy);
  const std::int64_t kernel = length(merge(work)), copy = length(merge(copies));
  work.insert(work.end(), copies.begin(), copies.end());
  const std::int64_t busy = length(merge(std::move(work)));
  const auto add = [&](std::string_view type, std::int64_t ns) {
    table.add_row(type, ms(ns),
                  total > 0 ? static_cast<double>(ns) / static_cast<double>(total) * 100 : 0.0);
  };
  table.add_row("total_time", ms(total), 100.0);
  add("kernel", kernel);
  add("memory", copy);
  add("busy_time", busy);
  add("idle", std::max<std::int64_t>(0, minus_ns(total, busy)));
  return table;
}

Table rocprof_kernel_summary(const RocprofKernels& kernels, const RocprofSummaryOptions& options) {
  const ColumnSpec columns[] = {
      {"name", Kind::kText, "", "kernel"},
      {"Count", Kind::kInteger, "", "dispatches"},
      {"Mean Kernel Time (µs)", Kind::kReal, "µs", "mean duration"},
      {"Median Kernel Time (µs)", Kind::kReal, "µs", "median duration"},
      {"Std Kernel Time (µs)", Kind::kReal, "µs", "standard deviation; none for one dispatch"},
      {"Min Kernel Time (µs)", Kind::kReal, "µs", "shortest"},
      {"Max Kernel Time (µs)", Kind::kReal, "µs", "longest"},
      {"Percentage (%)", Kind::kReal, "%", "of the time of all kernels"},
      {"Cumulative Percentage (%)", Kind::kReal, "%", "running sum of the percentages"},
      {"Total Kernel Time (ms)", Kind::kReal, "ms", "sum of durations"},
      {"Category", Kind::kText, "", "kind of work, by the name of the kernel"},
  };
  auto [groups, shares] =
      with_shares(group_by(kernels, [&](EventId event) { return kernels.trace.name(event); }),
                  kernels.total_ns, options.cumulative_by_rows);
  Table table{"kernel_summary", "Kernels by the time they took", columns};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const GroupStats stats = stats_of_ns(groups[i].durations);
    table.add_row(groups[i].name, groups[i].count, stats.mean, stats.median, stats.std, stats.min,
                  stats.max, shares[i].first, shares[i].second, ms(groups[i].sum_ns),
                  options.category(groups[i].name));
  }
  return table;
}

Table rocprof_category_summary(const RocprofKernels& kernels,
                               const RocprofSummaryOptions& options) {
  const ColumnSpec columns[] = {
      {"op category", Kind::kText, "", "kind of work, by the name of the kernel"},
      {"Count", Kind::kInteger, "", "dispatches"},
      {"total_direct_kernel_time_ms", Kind::kReal, "ms", "sum of durations"},
      {"Percentage (%)", Kind::kReal, "%", "of the time of all kernels"},
      {"Cumulative Percentage (%)", Kind::kReal, "%", "running sum of the percentages"},
  };
  std::vector<std::string_view> known(kernels.trace.string_count());  // by name
  const auto [groups, shares] = with_shares(
      group_by(kernels,
               [&](EventId event) {
                 std::string_view& category = known[kernels.trace.names()[event.row].row];
                 if (category.empty()) category = options.category(kernels.trace.name(event));
                 return category;
               }),
      kernels.total_ns, options.cumulative_by_rows);
  Table table{"kernel_summary_by_category", "Kernels by kind of work", columns};
  for (std::size_t i = 0; i < groups.size(); ++i)
    table.add_row(groups[i].name, groups[i].count, ms(groups[i].sum_ns), shares[i].first,
                  shares[i].second);
  return table;
}

Table rocprof_short_kernels(const RocprofKernels& kernels, double threshold_us) {
  const ColumnSpec columns[] = {
      {"name", Kind::kText, "", "kernel"},
      {"Short Kernel count", Kind::kInteger, "", "dispatches below the threshold"},
      {"Short Kernel duration (µs) sum", Kind::kReal, "µs", "sum of their durations"},
      {"Short Kernel duration (µs) mean", Kind::kReal, "µs", "mean of their durations"},
      {"Short Kernel duration (µs) percent of total time", Kind::kReal, "%",
       "of the time of all kernels, short or not"},
  };
  std::map<std::string_view, std::pair<std::int64_t, std::int64_t>> groups;  // count, ns
  for (const auto& [name, ns] : short_kernels(kernels, threshold_us)) {
    auto& [count, sum] = groups[kernels.trace.text(name)];
    ++count;
    sum = plus_ns(sum, ns);
  }
  Table table{"short_kernels_summary", "Kernels too short to be worth their launch", columns};
  for (const auto& [name, group] : groups) {
    const auto [count, ns] = group;
    table.add_row(
        name, count, us(ns), us(ns) / static_cast<double>(count),
        percent_of(static_cast<double>(ns), static_cast<double>(kernels.total_ns)).value_or(0));
  }
  table.sort_by("Short Kernel duration (µs) sum", Order::kDescending);
  return table;
}

Table rocprof_short_histogram(const RocprofKernels& kernels, double threshold_us, int bins) {
  const ColumnSpec columns[] = {
      {"bin_start", Kind::kReal, "µs", "shortest duration in the bin"},
      {"bin_end", Kind::kReal, "µs", "longer than all in the bin, but in the last"},
      {"count", Kind::kInteger, "", "dispatches"},
  };
  Table table{"short_kernel_histogram", "How many short kernels last how long", columns};
  const auto found = short_kernels(kernels, threshold_us);
  if (found.empty() || bins < 1) return table;
  const auto [low, high] =
      std::ranges::minmax_element(found, {}, &std::pair<StringId, std::int64_t>::second);
  auto first = static_cast<double>(low->second), last = static_cast<double>(high->second);
  if (first == last) {  // half a microsecond to both sides
    first -= 500;
    last += 500;
  }
  std::vector<double> edges;  // in ns
  for (int i = 0; i < bins; ++i) edges.push_back(i * ((last - first) / bins) + first);
  edges.push_back(last);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(bins));
  for (const auto& [name, ns] : found) {
    const auto above = std::ranges::upper_bound(edges, static_cast<double>(ns)) - edges.begin();
    ++counts[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(above - 1, 0, bins - 1))];
  }
  for (std::size_t i = 0; i < counts.size(); ++i)
    table.add_row(edges[i] / 1e3, edges[i + 1] / 1e3, counts[i]);
  return table;
}

}  // namespace tracelens
