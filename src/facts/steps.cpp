#include "facts/steps.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "facts/marked_steps.hpp"
#include "io/parallel.hpp"
#include "tree/iterations.hpp"
#include "tree/time_math.hpp"

namespace tracelens {

TraceSpan trace_span(const Trace& trace, int threads) {
  std::optional<TraceSpan> all;
  const auto add = [](std::optional<TraceSpan>& span, const TraceSpan& more) {
    if (!span) span = more;
    span->start_ns = std::min(span->start_ns, more.start_ns);
    span->end_ns = std::max(span->end_ns, more.end_ns);
  };
  std::mutex adding;
  io::for_each_range(threads, trace.size(), [&](std::size_t begin, std::size_t end) {
    std::optional<TraceSpan> own;
    for (auto row = static_cast<std::uint32_t>(begin); row < end; ++row)
      if (trace.phases()[row] == Phase::kComplete && trace.ts_ns()[row] != kAbsent)
        add(own, {trace.ts_ns()[row], end_of(trace, {row})});
    const std::lock_guard lock{adding};
    if (own) add(all, *own);
  });
  return all.value_or(TraceSpan{});
}

namespace {

struct MarkedStep {
  Step step;
  std::uint32_t track = 0;
};

// Where several processes are in one trace, as fused ranks are, each marks the steps of the run: marks of one name
// that overlap are one step.
void join_processes(const Trace& trace, std::vector<MarkedStep>& marks) {
  const auto process = [&](const MarkedStep& mark) -> const Value& {
    return trace.track_table()[mark.track].pid;
  };
  if (std::ranges::all_of(marks, [&](const MarkedStep& mark) {
        return mark.track == marks.front().track || process(mark) == process(marks.front());
      }))
    return;
  std::unordered_map<std::string_view, std::size_t> latest;  // by name: its place in `joined`
  std::vector<MarkedStep> joined;
  joined.reserve(marks.size());  // the names stay where they are
  for (MarkedStep& mark : marks) {
    const auto known = latest.find(mark.step.name);
    if (known != latest.end()) {
      MarkedStep& first = joined[known->second];
      const std::int64_t end = end_of(first.step.ts_ns, first.step.dur_ns);
      if (mark.step.ts_ns < end && process(mark) != process(first)) {
        first.step.dur_ns =
            minus_ns(std::max(end, end_of(mark.step.ts_ns, mark.step.dur_ns)), first.step.ts_ns);
        continue;
      }
    }
    joined.push_back(std::move(mark));
    latest[joined.back().step.name] = joined.size() - 1;
  }
  marks = std::move(joined);
}

}  // namespace

std::vector<Step> marked_steps(const Trace& trace, std::span<const std::uint32_t> annotations) {
  std::vector<MarkedStep> marks;
  const bool is_jax = trace.source().recorder == Recorder::kJax;  // numbers its steps
  for (const std::uint32_t row : annotations) {
    const EventId event{row};
    if (trace.phase(event) != Phase::kComplete || trace.ts_ns()[row] == kAbsent ||
        !(trace.name(event).starts_with("ProfilerStep#") ||
          (is_jax && trace.sequence_numbers().at(event))))
      continue;
    marks.push_back(
        {{std::string{trace.name(event)}, trace.ts_ns()[row], duration_of(trace, event)},
         trace.tracks()[row].row});
  }
  std::ranges::stable_sort(marks, {}, [](const MarkedStep& mark) { return mark.step.ts_ns; });
  if (!is_jax && !marks.empty())
    join_processes(trace, marks);  // its hosts have clocks of their own
  std::vector<Step> found;
  found.reserve(marks.size());
  for (MarkedStep& mark : marks) found.push_back(std::move(mark.step));
  return found;
}

std::vector<Step> find_steps(const Trace& trace, const Tree& tree) {
  std::vector<std::uint32_t> annotations;  // CategoryRows would list all calls and GPU events, too
  const std::span<const Category> categories = trace.categories();
  for (std::uint32_t row = 0; row < categories.size(); ++row)
    if (categories[row] == Category::kUserAnnotation) annotations.push_back(row);
  return find_steps(trace, tree, annotations);
}

std::vector<Step> find_steps(const Trace& trace, const Tree& tree,
                             std::span<const std::uint32_t> annotations) {
  std::vector<Step> found = marked_steps(trace, annotations);
  if (!found.empty()) return found;
  for (const IterationRoot& root : find_iterations(trace, tree))
    found.push_back({std::string{trace.name(root.first)}, root.ts_ns, root.dur_ns});
  std::ranges::stable_sort(found, {}, &Step::ts_ns);
  return found;
}

}  // namespace tracelens
