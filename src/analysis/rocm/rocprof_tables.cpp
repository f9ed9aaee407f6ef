#include "analysis/rocm/rocprof_tables.hpp"

#include <algorithm>
#include <string>
#include <tracelens/intervals.hpp>
#include <utility>

#include "analysis/gpu/busy_time.hpp"
#include "analysis/gpu/histogram.hpp"
#include "analysis/kit/cells.hpp"
#include "analysis/kit/group_rows.hpp"
#include "analysis/kit/group_stats.hpp"
#include "analysis/rocm/pftrace_events.hpp"
#include "analysis/rocm/rocprof_processes.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

// Kernels of one name, or of one category.
struct Group {
  std::string_view name = {};
  std::int64_t sum_ns = 0;
  std::int64_t count = 0;
  std::uint32_t id = 0;
  double percent = 0, cumulative = 0;
};

// The longest first, of equal ones by name. `id_of` numbers the names of kernels: those of one
// group alike, from 0 in the order they are first seen, and is asked for each of kernels.events, in
// their order; `text_of` is the name of the group.
template <class IdOf, class TextOf>
std::vector<Group> group_by(const RocprofKernels& kernels, Edition edition, IdOf&& id_of,
                            TextOf&& text_of) {
  std::vector<Group> groups;
  for (const EventId event : kernels.events) {
    const StringId kernel = kernels.trace.names()[event.row];
    const std::int64_t ns = duration_of(kernels.trace, event);
    const std::uint32_t id = id_of(kernel);
    if (id == groups.size()) groups.push_back({.name = text_of(kernel), .id = id});
    groups[id].sum_ns = plus_ns(groups[id].sum_ns, ns);
    ++groups[id].count;
  }
  const auto sum_up = [&] {
    double so_far = 0;
    for (Group& group : groups) {
      group.percent = percent_of(group.sum_ns, kernels.total_ns).value_or(0);
      group.cumulative = so_far += group.percent;
    }
  };
  std::ranges::sort(groups, {}, &Group::name);
  if (edition == Edition::kReference) sum_up();
  std::ranges::stable_sort(groups, std::ranges::greater{}, &Group::sum_ns);
  if (edition == Edition::kExtended) sum_up();
  return groups;
}

std::vector<Interval> intervals_of(const RocprofKernels& kernels, Category category) {
  const Trace& trace = kernels.trace;
  std::vector<Interval> intervals;
  for (EventId event{kernels.first_row}; event.row < kernels.end_row; ++event.row)
    if (trace.category(event) == category && trace.ts_ns()[event.row] != kAbsent)
      intervals.push_back(interval_of(trace, event));
  return intervals;
}

// Calls use(name, ns) for each dispatch below the threshold, in file order.
template <class Use>
void for_each_short_kernel(const RocprofKernels& kernels, double threshold_us, const Use& use) {
  for (const EventId event : kernels.events)
    if (const std::int64_t ns = duration_of(kernels.trace, event);
        static_cast<double>(ns) < threshold_us * 1e3)
      use(kernels.trace.names()[event.row], ns);
}

}  // namespace

RocprofKernels::RocprofKernels(const Trace& the_trace, Edition edition) : trace{the_trace} {
  const bool is_reference = edition == Edition::kReference;
  std::vector<ProfiledProcess> taken = profiled_processes(trace);
  if (is_reference) taken.resize(1);
  processes = taken.size();
  first_row = taken.front().first_row;
  end_row = is_reference ? taken.front().counted_row : taken.back().end_row;
  // A process that does not tell its times must not stretch the run back to the start of the clock.
  if (processes > 1)
    std::erase_if(taken, [](const ProfiledProcess& process) { return process.fini_ns == 0; });
  if (!taken.empty())
    run_ns = minus_ns(std::ranges::max(taken, {}, &ProfiledProcess::fini_ns).fini_ns,
                      std::ranges::min(taken, {}, &ProfiledProcess::init_ns).init_ns);
  const auto categories = trace.categories().subspan(first_row, end_row - first_row);
  events.reserve(static_cast<std::size_t>(std::ranges::count(categories, Category::kKernel)));
  for (EventId event{first_row}; event.row < end_row; ++event.row)
    if (trace.category(event) == Category::kKernel) {
      events.push_back(event);
      total_ns = plus_ns(total_ns, duration_of(trace, event));
    }
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
  RowGroups dispatches;  // by kernel
  const std::vector<Group> groups = group_by(
      kernels, options.edition, [&](StringId kernel) { return dispatches.add({kernel.row}); },
      [&](StringId kernel) { return kernels.trace.text(kernel); });
  dispatches.close();
  std::vector<std::int64_t> durations;  // of one kernel after the other
  Table table{"kernel_summary", "Kernels by the time they took", columns};
  for (const Group& group : groups) {
    durations.clear();
    for (const std::uint32_t i : dispatches.rows(group.id))
      durations.push_back(duration_of(kernels.trace, kernels.events[i]));
    const GroupStats stats = stats_of_ns(durations);
    table.add_row(group.name, group.count, stats.mean, stats.median, stats.std, stats.min,
                  stats.max, group.percent, group.cumulative, ms(group.sum_ns),
                  options.category(group.name));
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
  KernelCategories categories{kernels.trace, options.category};
  Table table{"kernel_summary_by_category", "Kernels by kind of work", columns};
  for (const Group& group : group_by(
           kernels, options.edition, [&](StringId kernel) { return categories.id_of(kernel); },
           [&](StringId kernel) { return categories.of(kernel); }))
    table.add_row(group.name, group.count, ms(group.sum_ns), group.percent, group.cumulative);
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
  struct ShortKernel {
    StringId name;
    std::int64_t count = 0, sum_ns = 0;
  };
  Grouped<ShortKernel> by_name;
  for_each_short_kernel(kernels, threshold_us, [&](StringId name, std::int64_t ns) {
    ShortKernel& kernel = by_name.at({name.row}, [&] { return ShortKernel{.name = name}; });
    ++kernel.count;
    kernel.sum_ns = plus_ns(kernel.sum_ns, ns);
  });
  std::vector<ShortKernel> found = std::move(by_name).take();
  std::ranges::sort(found, {},
                    [&](const ShortKernel& kernel) { return kernels.trace.text(kernel.name); });
  Table table{"short_kernels_summary", "Kernels too short to be worth their launch", columns};
  for (const auto& [name, count, ns] : found)
    table.add_row(kernels.trace.text(name), count, us(ns), us(ns) / static_cast<double>(count),
                  percent_of(ns, kernels.total_ns).value_or(0));
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
  std::vector<double> durations;  // in ns
  for_each_short_kernel(kernels, threshold_us, [&](StringId, std::int64_t ns) {
    durations.push_back(static_cast<double>(ns));
  });
  for (const auto& [start, end, count] : histogram(durations, bins, 500))
    table.add_row(start / 1e3, end / 1e3, count);
  return table;
}

}  // namespace tracelens
