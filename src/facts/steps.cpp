#include "facts/steps.hpp"

#include <algorithm>
#include <optional>

#include "facts/marked_steps.hpp"
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

std::vector<Step> marked_steps(const Trace& trace, std::span<const std::uint32_t> annotations) {
  std::vector<Step> found;
  const bool is_jax = trace.source().recorder == Recorder::kJax;  // numbers its steps
  for (const std::uint32_t row : annotations) {
    const EventId event{row};
    if (trace.phase(event) != Phase::kComplete || trace.ts_ns()[row] == kAbsent ||
        !(trace.name(event).starts_with("ProfilerStep#") ||
          (is_jax && trace.sequence_numbers().at(event))))
      continue;
    found.push_back(
        {std::string{trace.name(event)}, trace.ts_ns()[row], duration_of(trace, event)});
  }
  std::ranges::stable_sort(found, {}, &Step::ts_ns);
  return found;
}

std::vector<Step> find_steps(const Trace& trace, const Tree& tree) {
  std::vector<std::uint32_t> annotations;  // CategoryRows would list all calls and GPU events, too
  const std::span<const Category> categories = trace.categories();
  for (std::uint32_t row = 0; row < categories.size(); ++row)
    if (categories[row] == Category::kUserAnnotation) annotations.push_back(row);
  std::vector<Step> found = marked_steps(trace, annotations);
  if (!found.empty()) return found;
  for (const IterationRoot& root : find_iterations(trace, tree))
    found.push_back({std::string{trace.name(root.first)}, root.ts_ns, root.dur_ns});
  std::ranges::stable_sort(found, {}, &Step::ts_ns);
  return found;
}

}  // namespace tracelens
