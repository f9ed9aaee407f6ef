#include "analysis/ranks/rank_steps.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
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
  std::unordered_map<std::uint32_t, std::size_t> known;  // by name
  for (std::uint32_t row = 0; row < trace.size(); ++row) {
    if (trace.categories()[row] != category || trace.phases()[row] != Phase::kComplete ||
        !trace.name({row}).starts_with(kStepMark))
      continue;
    const Interval window = interval_of(trace, {row});
    const auto [entry, is_new] = known.try_emplace(trace.names()[row].row, marks.size());
    if (is_new) marks.push_back({trace.names()[row], window});
    Interval& whole = marks[entry->second].window;
    whole.start = std::min(whole.start, window.start);
    whole.end = std::max(whole.end, window.end);
  }
  std::ranges::stable_sort(marks, {}, [](const Mark& mark) { return mark.window.start; });
  return marks;
}

RankStep times_within(const GpuBusy& busy, const Interval& window, std::string_view name) {
  const std::int64_t total = minus_ns(window.end, window.start);
  return {.name = std::string{name},
          .total_ns = total,
          .computation_ns = busy.computing.within(window),
          .exposed_comm_ns = busy.exposed_comm.within(window),
          .exposed_copy_ns = busy.exposed_copy.within(window),
          .idle_ns = minus_ns(total, busy.any.within(window)),
          .comm_ns = busy.communicating.within(window),
          .copy_ns = busy.copying.within(window)};
}

}  // namespace

GpuBusy gpu_busy(const Trace& trace, std::span<const std::uint8_t> is_communication) {
  const GpuWorkKinds kinds{trace};
  std::vector<Interval> any, computing, communicating, copying;
  for (std::uint32_t row = 0; row < trace.size(); ++row) {
    if (!is_gpu(trace.categories()[row]) || trace.phases()[row] != Phase::kComplete ||
        is_communication[row] == kOfAnotherRank)
      continue;
    const Interval interval = interval_of(trace, {row});
    any.push_back(interval);
    const GpuWork kind =
        is_communication[row] != 0 ? GpuWork::kCommunication : kinds.of(EventId{row});
    (kind == GpuWork::kCommunication ? communicating
     : kind == GpuWork::kCopy        ? copying
                                     : computing)
        .push_back(interval);
  }
  for (auto* set : {&any, &communicating, &copying, &computing}) *set = merge(std::move(*set));
  GpuBusy busy;
  busy.exposed_comm = BusyTimes{subtract(communicating, computing)};
  busy.exposed_copy = BusyTimes{subtract(subtract(copying, computing), communicating)};
  busy.computing = BusyTimes{std::move(computing)};
  busy.communicating = BusyTimes{std::move(communicating)};
  busy.copying = BusyTimes{std::move(copying)};
  busy.any = BusyTimes{std::move(any)};
  return busy;
}

BusyTimes::BusyTimes(std::vector<Interval> intervals) : intervals_{std::move(intervals)} {
  std::int64_t sum = 0;
  for (const Interval& interval : intervals_) {
    before_.push_back(sum);
    sum = plus_ns(sum, length(interval));
  }
  before_.push_back(sum);
}

std::int64_t BusyTimes::within(const Interval& window) const {
  const auto first = std::ranges::lower_bound(intervals_, window.start, {}, &Interval::end);
  const auto last = std::ranges::lower_bound(intervals_, window.end, {}, &Interval::start);
  if (first >= last) return 0;
  const auto length_before = [&](auto at) {
    return before_[static_cast<std::size_t>(at - intervals_.begin())];
  };
  std::int64_t sum = minus_ns(length_before(last), length_before(first));
  if (first->start < window.start) sum = minus_ns(sum, minus_ns(window.start, first->start));
  const Interval& end = *(last - 1);
  return end.end > window.end ? minus_ns(sum, minus_ns(end.end, window.end)) : sum;
}

std::vector<RankStep> rank_steps(const Trace& trace, const GpuBusy& busy) {
  const std::vector<Interval>& any = busy.any.intervals();
  if (any.empty()) return {};
  std::vector<RankStep> steps{times_within(busy, {any.front().start, any.back().end}, "all")};
  std::vector<Mark> marks = step_marks(trace, Category::kGpuUserAnnotation);
  if (marks.empty()) marks = step_marks(trace, Category::kUserAnnotation);
  for (const Mark& mark : marks)
    steps.push_back(times_within(busy, mark.window, trace.text(mark.name)));
  return steps;
}

}  // namespace tracelens
