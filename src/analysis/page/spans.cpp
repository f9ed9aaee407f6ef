#include "analysis/page/spans.hpp"

#include <algorithm>
#include <tracelens/tree.hpp>
#include <tuple>

#include "facts/step_annotation.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

// Spans that have ended, one in the other, that a search climbs through: no program has as many, and
// a made-up trace must not make every search long.
constexpr int kMostPassed = 1'000;

}  // namespace

HostSpans::HostSpans(const Trace& trace, std::vector<EventId> events) {
  spans_.reserve(events.size());
  for (const EventId event : events)
    spans_.push_back(
        {event, trace.tracks()[event.row], trace.ts_ns()[event.row], end_of(trace, event)});
  std::ranges::stable_sort(spans_, [](const Span& a, const Span& b) {  // outer ones first
    return std::tuple{a.track, a.start_ns, b.end_ns} < std::tuple{b.track, b.start_ns, a.end_ns};
  });
  for (std::uint32_t i = 1; i < spans_.size(); ++i) {
    std::uint32_t above = i - 1;
    if (spans_[above].track != spans_[i].track) continue;
    while (above != kNone && spans_[above].end_ns <= spans_[i].start_ns)
      above = spans_[above].parent;
    spans_[i].parent = above;
  }
}

std::uint32_t HostSpans::at(TrackId track, std::int64_t ns) const {
  const auto after =
      std::ranges::upper_bound(spans_, std::tuple{track, ns}, {}, [](const Span& span) {
        return std::tuple{span.track, span.start_ns};
      });
  if (after == spans_.begin() || (after - 1)->track != track) return kNone;
  auto found = static_cast<std::uint32_t>(after - 1 - spans_.begin());
  for (int passed = 0; found != kNone && spans_[found].end_ns <= ns; ++passed) {
    if (passed == kMostPassed) return kNone;
    found = spans_[found].parent;
  }
  return found;
}

std::vector<EventId> timed_events(const Trace& trace, Category category) {
  std::vector<EventId> events;
  for (const EventId event : trace.recorded_events())
    if (trace.category(event) == category && trace.phase(event) == Phase::kComplete &&
        trace.ts_ns()[event.row] != kAbsent)
      events.push_back(event);
  return events;
}

bool is_step(const Trace& trace, EventId annotation) {
  return trace.name(annotation).starts_with("ProfilerStep#") ||
         (trace.source().recorder == Recorder::kJax && trace.sequence_numbers().at(annotation)) ||
         annotation_tier(trace.name(annotation)) != 0;
}

HostSpans module_spans(const Trace& trace) {
  std::vector<std::uint8_t> is_module(trace.string_count());  // 0: not looked at, 1: no, 2: yes
  std::vector<EventId> modules;
  for (const EventId event : timed_events(trace, Category::kPythonFunction)) {
    const StringId name = trace.names()[event.row];
    if (!name.valid()) continue;
    std::uint8_t& known = is_module[name.row];
    if (known == 0) known = is_module_name(trace.text(name)) ? 2 : 1;
    if (known == 2) modules.push_back(event);
  }
  return {trace, std::move(modules)};
}

HostSpans annotation_spans(const Trace& trace) {
  std::vector<EventId> annotations = timed_events(trace, Category::kUserAnnotation);
  std::erase_if(annotations, [&](EventId event) { return is_step(trace, event); });
  return {trace, std::move(annotations)};
}

}  // namespace tracelens
