#include "facts/steps.hpp"

#include <algorithm>
#include <mutex>
#include <optional>

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
