#include "facts/steps.hpp"

#include <algorithm>
#include <optional>

#include "tree/iterations.hpp"
#include "tree/time_math.hpp"

namespace tracelens {

TraceSpan trace_span(const Trace& trace) {
  std::optional<TraceSpan> span;
  for (const EventId event : trace.all_events()) {
    if (trace.phase(event) != Phase::kComplete || trace.ts_ns()[event.row] == kAbsent) continue;
    const std::int64_t start = trace.ts_ns()[event.row], end = end_of(trace, event);
    if (!span) span = TraceSpan{start, end};
    span->start_ns = std::min(span->start_ns, start);
    span->end_ns = std::max(span->end_ns, end);
  }
  return span.value_or(TraceSpan{});
}

std::vector<Step> find_steps(const Trace& trace, const Tree& tree) {
  std::vector<Step> found;
  const bool is_jax = trace.source().recorder == Recorder::kJax;  // numbers its steps
  for (const EventId event : trace.all_events()) {
    if (trace.category(event) != Category::kUserAnnotation ||
        trace.phase(event) != Phase::kComplete || trace.ts_ns()[event.row] == kAbsent ||
        !(trace.name(event).starts_with("ProfilerStep#") ||
          (is_jax && trace.sequence_numbers().at(event))))
      continue;
    found.push_back(
        {std::string{trace.name(event)}, trace.ts_ns()[event.row], duration_of(trace, event)});
  }
  if (found.empty())
    for (const IterationRoot& root : find_iterations(trace, tree))
      found.push_back({std::string{trace.name(root.first)}, root.ts_ns, root.dur_ns});
  std::ranges::stable_sort(found, {}, &Step::ts_ns);
  return found;
}

}  // namespace tracelens
