// steps.hpp: the passes of the loop a trace was recorded around, and how long it lasted.
//   for (const Step& step : find_steps(trace, tree)) print(step.name, step.dur_ns);
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <vector>

namespace tracelens {

// One pass of the loop the trace was recorded around.
struct Step {
  std::string name;  // "ProfilerStep#3", or the first call of the iteration
  std::int64_t ts_ns = 0, dur_ns = 0;
};

// The steps the profiler marked (ProfilerStep#N), else the iterations found in the call tree;
// those need a tree with Python frames.
[[nodiscard]] std::vector<Step> find_steps(const Trace& trace, const Tree& tree);
// The same where the user's annotations are known already, in file order.
[[nodiscard]] std::vector<Step> find_steps(const Trace& trace, const Tree& tree,
                                           std::span<const std::uint32_t> annotations);

// From the start of the first event to the end of the last; {0, 0} without events.
struct TraceSpan {
  std::int64_t start_ns = 0, end_ns = 0;
};
[[nodiscard]] TraceSpan trace_span(const Trace& trace, int threads = 1);

}  // namespace tracelens
