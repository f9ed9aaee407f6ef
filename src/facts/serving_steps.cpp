#include "facts/serving_steps.hpp"

#include <algorithm>
#include <utility>

#include "tree/time_math.hpp"

namespace tracelens {

std::vector<EventId> find_step_roots(const Trace& trace) {
  std::vector<EventId> detailed, plain;
  for (const EventId event : trace.all_events()) {
    if (trace.category(event) != Category::kUserAnnotation ||
        trace.phase(event) != Phase::kComplete)
      continue;
    if (const int tier = annotation_tier(trace.name(event)); tier != 0)
      (tier == 1 ? detailed : plain).push_back(event);
  }
  std::vector<EventId>& roots = detailed.empty() ? plain : detailed;
  std::ranges::stable_sort(roots, {}, [&](EventId event) { return trace.ts_ns()[event.row]; });
  return std::move(roots);
}

ServingSteps::ServingSteps(const Trace& trace) {
  for (const EventId event : trace.all_events()) {
    const Category category = trace.category(event);
    if ((category != Category::kUserAnnotation && category != Category::kGpuUserAnnotation) ||
        trace.phase(event) != Phase::kComplete)
      continue;
    if (const auto tokens = parse_step_tokens(trace.name(event)))
      steps_.push_back(
          {trace.names()[event.row], *tokens, trace.ts_ns()[event.row], end_of(trace, event)});
  }
  std::ranges::stable_sort(steps_, {}, &ServingStep::ts_ns);
  for (const ServingStep& step : steps_)
    latest_ends_.push_back(latest_ends_.empty() ? step.end_ns
                                                : std::max(latest_ends_.back(), step.end_ns));
}

const ServingStep* ServingSteps::around(const Trace& trace, EventId event) const {
  // The first step that ends later than the event is the first to raise the latest end above it.
  const auto found = std::ranges::upper_bound(latest_ends_, end_of(trace, event));
  if (found == latest_ends_.end()) return nullptr;
  const ServingStep& step = steps_[static_cast<std::size_t>(found - latest_ends_.begin())];
  return step.ts_ns <= trace.ts_ns()[event.row] ? &step : nullptr;
}

}  // namespace tracelens
