#include "analysis/ranks/rank_steps.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "analysis/gpu/busy_time.hpp"
#include "facts/gpu_work.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

constexpr std::string_view kStepMark = "ProfilerStep#";

struct Mark {
  StringId name;
  Interval window;
};

// One window per step name, from its first mark to its last (every stream has its own mark).
std::vector<Mark> step_marks(const Trace& trace, Category category) {
  std::vector<Mark> marks;
  for (std::uint32_t row = 0; row < trace.size(); ++row) {
    if (trace.categories()[row] != category || trace.phases()[row] != Phase::kComplete ||
        !trace.name({row}).starts_with(kStepMark))
      continue;
    const Interval window = interval_of(trace, {row});
    const auto known = std::ranges::find(marks, trace.names()[row], &Mark::name);
    if (known == marks.end()) {
      marks.push_back({trace.names()[row], window});
    } else {
      known->window.start = std::min(known->window.start, window.start);
      known->window.end = std::max(known->window.end, window.end);
    }
  }
  std::ranges::stable_sort(marks, {}, [](const Mark& mark) { return mark.window.start; });
  return marks;
}

RankStep times_within(const GpuBusy& busy, const Interval& window, std::string_view name) {
  const std::int64_t total = minus_ns(window.end, window.start);
  return {.name = std::string{name},
          .total_ns = total,
          .computation_ns = length_within(busy.computing, window),
          .exposed_comm_ns = length_within(busy.exposed_comm, window),
          .exposed_copy_ns = length_within(busy.exposed_copy, window),
          .idle_ns = minus_ns(total, length_within(busy.any, window)),
          .comm_ns = length_within(busy.communicating, window),
          .copy_ns = length_within(busy.copying, window)};
}

}  // namespace

GpuBusy gpu_busy(const Trace& trace, std::span<const std::uint8_t> is_communication) {
  const GpuWorkKinds kinds{trace};
  GpuBusy busy;
  for (std::uint32_t row = 0; row < trace.size(); ++row) {
    if (!is_gpu(trace.categories()[row]) || trace.phases()[row] != Phase::kComplete ||
        is_communication[row] == kOfAnotherRank)
      continue;
    const Interval interval = interval_of(trace, {row});
    busy.any.push_back(interval);
    const GpuWork kind =
        is_communication[row] != 0 ? GpuWork::kCommunication : kinds.of(EventId{row});
    (kind == GpuWork::kCommunication ? busy.communicating
     : kind == GpuWork::kCopy        ? busy.copying
                                     : busy.computing)
        .push_back(interval);
  }
  for (auto* set : {&busy.any, &busy.communicating, &busy.copying, &busy.computing})
    *set = merge(std::move(*set));
  busy.exposed_comm = subtract(busy.communicating, busy.computing);
  busy.exposed_copy = subtract(subtract(busy.copying, busy.computing), busy.communicating);
  return busy;
}

std::int64_t length_within(std::span<const Interval> set, const Interval& window) {
  std::int64_t sum = 0;
  for (auto at = std::ranges::lower_bound(set, window.start, std::ranges::less{}, &Interval::end);
       at != set.end() && at->start < window.end; ++at)
    sum = plus_ns(sum, minus_ns(std::min(at->end, window.end), std::max(at->start, window.start)));
  return sum;
}

std::vector<RankStep> rank_steps(const Trace& trace, const GpuBusy& busy) {
  if (busy.any.empty()) return {};
  std::vector<RankStep> steps{
      times_within(busy, {busy.any.front().start, busy.any.back().end}, "all")};
  std::vector<Mark> marks = step_marks(trace, Category::kGpuUserAnnotation);
  if (marks.empty()) marks = step_marks(trace, Category::kUserAnnotation);
  for (const Mark& mark : marks)
    steps.push_back(times_within(busy, mark.window, trace.text(mark.name)));
  return steps;
}

}  // namespace tracelens
