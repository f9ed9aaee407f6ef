// spans.hpp: modules or annotations of a run, and which of them is open at a time on a thread.
//   const HostSpans modules = module_spans(trace);
//   for (std::uint32_t span = modules.at(track, ts_ns); span != HostSpans::kNone; span = modules[span].parent)
// By time and not by the call tree, in which Python frames take part only where a table needs them.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

class HostSpans {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  struct Span {
    EventId event;
    TrackId track;
    std::int64_t start_ns = 0, end_ns = 0;
    std::uint32_t parent = kNone;
  };

  HostSpans(const Trace& trace, std::vector<EventId> events);

  // The innermost one that is open.
  [[nodiscard]] std::uint32_t at(TrackId track, std::int64_t ns) const;
  [[nodiscard]] const Span& operator[](std::uint32_t span) const { return spans_[span]; }
  [[nodiscard]] std::span<const Span> all() const { return spans_; }  // by track, then by start
  [[nodiscard]] bool empty() const { return spans_.empty(); }

 private:
  std::vector<Span> spans_;
};

// nn.Modules; none without Python frames.
[[nodiscard]] HostSpans module_spans(const Trace& trace);
// The user's annotations, without those that mark steps.
[[nodiscard]] HostSpans annotation_spans(const Trace& trace);

// Complete events of the category that have a time, in file order.
[[nodiscard]] std::vector<EventId> timed_events(const Trace& trace, Category category);
// Whether an annotation marks a step of the loop, or of a serving engine.
[[nodiscard]] bool is_step(const Trace& trace, EventId annotation);

}  // namespace tracelens
