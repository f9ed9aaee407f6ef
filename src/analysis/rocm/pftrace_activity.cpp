#include "analysis/rocm/pftrace_activity.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <tracelens/intervals.hpp>

#include "analysis/gpu/busy_time.hpp"
#include "tree/time_math.hpp"
#include "tree/time_order.hpp"

namespace tracelens {
namespace {

std::string without_digits(std::string_view name) {
  std::string text;
  std::ranges::copy_if(name, std::back_inserter(text), [](char c) { return c < '0' || c > '9'; });
  return text;
}

std::int64_t begin_of(const Trace& trace, EventId event) { return trace.ts_ns()[event.row]; }

std::int64_t sum_ns(const Trace& trace, const std::vector<EventId>& events) {
  std::int64_t sum = 0;
  for (const EventId event : events) sum = plus_ns(sum, duration_of(trace, event));
  return sum;
}

std::vector<Interval> busy(const Trace& trace, std::vector<EventId> events) {
  std::vector<Interval> stretches;
  for_each_busy_stretch(trace, events,
                        [&](const Interval& stretch) { stretches.push_back(stretch); });
  return stretches;
}

std::int64_t exact_overlap(const Trace& trace, const PftraceActivity::Gpu& gpu) {
  if (gpu.communication.empty()) return 0;
  const std::vector<Interval> communication = busy(trace, gpu.communication);
  return length(communication) - length(subtract(communication, busy(trace, gpu.compute)));
}

// Adds up the pairs of a communication kernel and a compute kernel that ran at the same time, until
// a compute kernel outlasts the communication. Time that several pairs share counts for each.
std::int64_t summed_overlap(const Trace& trace, const PftraceActivity::Gpu& gpu) {
  std::int64_t overlap = 0;
  std::size_t first = 0;
  for (const EventId event : gpu.communication) {
    const auto [start, end] = interval_of(trace, event);
    while (first < gpu.compute.size() && end_of(trace, gpu.compute[first]) <= start) ++first;
    for (std::size_t i = first; i < gpu.compute.size() && begin_of(trace, gpu.compute[i]) < end;
         ++i) {
      const Interval kernel = interval_of(trace, gpu.compute[i]);
      const std::int64_t shared = std::min(kernel.end, end) - std::max(kernel.start, start);
      overlap = plus_ns(overlap, std::max<std::int64_t>(0, shared));
      if (kernel.end > end) break;
    }
  }
  return overlap;
}

double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

PftraceActivity::PftraceActivity(const PftraceEvents& events, const PftraceActivityOptions& options)
    : events_{events},
      options_{options},
      gpus_(events.gpus().size()),
      classes_(events.trace().string_count()) {
  collect();
  for (Gpu& gpu : gpus_) {
    put_in_order(gpu.compute);
    put_in_order(gpu.communication);
    for (std::size_t i = 0; i < kKernelClassNames.size(); ++i)
      if (static_cast<KernelClass>(i) != KernelClass::kCommunication)
        gpu.compute_ns = plus_ns(gpu.compute_ns, gpu.class_ns[i]);
    gpu.total_ns = plus_ns(gpu.compute_ns, sum_ns(trace(), gpu.communication));
  }
  put_in_order(hip_calls_);
  scratch_ = {};
}

void PftraceActivity::collect() {
  for (const EventId event : trace().all_events()) {
    const std::int64_t ns = duration_of(trace(), event);
    if (begin_of(trace(), event) == kAbsent || trace().phase(event) != Phase::kComplete) continue;
    if (ns == 0 && options_.edition == Edition::kReference) continue;
    if (const auto gpu = events_.gpu_of(event); gpu && in_window(events_.tid(event).value_or(-1)))
      add_gpu_event(*gpu, event);
    if (ns >= options_.min_event_ns && trace().category_text(event) == "hip_api") {
      const auto tid = events_.tid(event);
      if (in_window(tid ? *tid : events_.args(event).tid.value_or(-1))) hip_calls_.push_back(event);
    }
  }
}

void PftraceActivity::add_gpu_event(std::uint32_t gpu, EventId event) {
  const std::string_view name = trace().name(event);
  const std::int64_t ns = duration_of(trace(), event);
  std::uint8_t& known = classes_[trace().names()[event.row].row];
  if (known == 0) known = static_cast<std::uint8_t>(static_cast<int>(kernel_class(name)) + 1);
  const std::size_t index = known - std::size_t{1};
  const auto kernel_class = static_cast<KernelClass>(index);
  if (kernel_class == KernelClass::kXla) {
    const auto [entry, is_new] = xla_index_.try_emplace(kernel_key(event), xla_.size());
    if (is_new) xla_.push_back({entry->first});
    Xla& kernel = xla_[entry->second];
    kernel.ns = plus_ns(kernel.ns, ns);
    ++kernel.count;
  }
  uses_fa3_ |= kernel_class == KernelClass::kAttentionBackward &&
               name.find("kernel_func") != std::string_view::npos;
  if (ns < options_.min_event_ns) return;
  gpus_[gpu].class_ns[index] = plus_ns(gpus_[gpu].class_ns[index], ns);
  ++gpus_[gpu].class_counts[index];
  (kernel_class == KernelClass::kCommunication ? gpus_[gpu].communication : gpus_[gpu].compute)
      .push_back(event);
}

void PftraceActivity::put_in_order(std::vector<EventId>& events) {
  const auto is_before = [&trace = trace()](EventId a, EventId b) {
    const std::int64_t begins[] = {begin_of(trace, a), begin_of(trace, b)};
    if (begins[0] != begins[1]) return begins[0] < begins[1];
    const std::int64_t lengths[] = {duration_of(trace, a), duration_of(trace, b)};
    if (lengths[0] != lengths[1]) return lengths[0] < lengths[1];
    return trace.name(a) < trace.name(b);
  };
  merge_runs(std::span{events}, scratch_, is_before);
}

std::string PftraceActivity::kernel_key(EventId event) const {
  const std::string_view name = trace().name(event);
  return options_.merge_kernels ? without_digits(name) : std::string{name};
}

Table category_summary(const PftraceActivity& activity) {
  constexpr auto kAbout = "GPU time by kind of kernel; communication hidden behind compute";
  if (activity.gpus().empty()) return Table{"category_summary", kAbout, {}};
  const ColumnSpec columns[] = {
      {"GPU ID", Kind::kNested, "id", "number of the GPU; Avg: mean of all"},
      {"Category", Kind::kText, "", "kind of kernel, by its name"},
      {"Total runtime (ms)", Kind::kReal, "ms", "sum of durations"},
      {"Total count", Kind::kReal, "", "kernels"},
      {"Fraction of compute runtime", Kind::kReal, "", "of all kernels but RCCL's; 1 is all"},
      {"Fraction of total runtime", Kind::kReal, "", "of all kernels; 1 is all"},
  };
  Table table{"category_summary", kAbout, columns};
  using Numbers = std::array<double, 4>;  // the last four columns
  std::map<std::string_view, Numbers> sums;
  for (std::size_t i = 0; i < activity.gpus().size(); ++i) {
    const PftraceActivity::Gpu& gpu = activity.gpus()[i];
    const auto add = [&](std::string_view category, std::int64_t ns, std::int64_t count) {
      const Numbers row = {static_cast<double>(ns) / 1e6, static_cast<double>(count),
                           share(ns, gpu.compute_ns), share(ns, gpu.total_ns)};
      table.add_row(Value{activity.events().gpu_number(static_cast<std::uint32_t>(i))}, category,
                    row[0], row[1], row[2], row[3]);
      Numbers& sum = sums[category];
      for (std::size_t k = 0; k < row.size(); ++k) sum[k] += row[k];
    };
    for (std::size_t k = 0; k < kKernelClassNames.size(); ++k)
      add(kKernelClassNames[k], gpu.class_ns[k], gpu.class_counts[k]);
    const std::int64_t overlap = activity.options().edition == Edition::kExtended
                                     ? exact_overlap(activity.trace(), gpu)
                                     : summed_overlap(activity.trace(), gpu);
    add("overlapped_comm", overlap, 0);
    add("non_overlapped_comm", minus_ns(sum_ns(activity.trace(), gpu.communication), overlap), 0);
    add("compute_total", gpu.compute_ns, 0);
    add("total_incl_comm", gpu.total_ns, 0);
  }
  const auto gpus = static_cast<double>(activity.gpus().size());
  for (const auto& [category, sum] : sums)
    table.add_row(Value{"Avg"}, category, sum[0] / gpus, sum[1] / gpus, sum[2] / gpus,
                  sum[3] / gpus);
  return table;
}

Table xla_top(const PftraceActivity& activity) {
  constexpr auto kAbout = "XLA kernels that took most time, on all GPUs";
  if (activity.xla().empty()) return Table{"xla_top", kAbout, {}};
  const ColumnSpec columns[] = {
      {"Kernel", Kind::kText, "", "name as traced"},
      {"Total time (ms)", Kind::kReal, "ms", "sum of durations, however short"},
      {"Count", Kind::kInteger, "", "how often it ran"},
      {"Fraction of XLA", Kind::kReal, "", "of the time of all XLA kernels; 1 is all"},
  };
  std::vector<PftraceActivity::Xla> kernels = activity.xla();
  std::int64_t total = 0;
  for (const auto& kernel : kernels) total = plus_ns(total, kernel.ns);
  std::ranges::stable_sort(kernels, std::ranges::greater{}, &PftraceActivity::Xla::ns);
  if (kernels.size() > activity.options().top_xla) kernels.resize(activity.options().top_xla);
  Table table{"xla_top", kAbout, columns};
  for (const auto& [name, ns, count] : kernels)
    table.add_row(name, static_cast<double>(ns) / 1e6, count, share(ns, total));
  return table;
}

}  // namespace tracelens
