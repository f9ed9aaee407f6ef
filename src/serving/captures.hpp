// captures.hpp: the graphs that were captured while a trace was recorded.
//   const Capture capture = find_captures(read_trace("capture.json.gz"), Edition::kExtended);
//   for (const CapturedGraph& graph : capture.graphs) align(graph.calls, work);
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <tracelens/edition.hpp>
#include <tracelens/trace.hpp>
#include <unordered_map>
#include <vector>

#include "serving/alignment.hpp"

namespace tracelens {

// What was called between the begin and the end of a capture. In our own edition only the calls that
// put work on the GPU and what called them: the rest has no part in a replay.
struct CapturedGraph {
  static constexpr std::uint32_t kTop = std::numeric_limits<std::uint32_t>::max();
  std::int64_t ts_ns = 0, dur_ns = 0;
  std::vector<EventId> events = {};  // by time, callers before the called
  std::vector<std::uint32_t> callers =
      {};                                // by event: its place in `events`; kTop: the graph itself
  std::vector<CapturedCall> calls = {};  // those that put work on the GPU, by time
  std::vector<std::uint32_t> call_places = {};  // where they stand in `events`
  std::uint64_t digest =
      0;  // of the ops and their arguments: equal graphs say the same of a replay
};

struct Capture {
  Trace trace;
  std::vector<CapturedGraph> graphs;
  std::size_t unfinished = 0;  // captures that begin and do not end
  // What the views of the calls point into, by the row of the details' text.
  std::unordered_map<std::uint32_t, std::string> kernel_names = {};
};

// `python_frames`: of the events, those that are Python frames; in the reference edition always.
[[nodiscard]] Capture find_captures(Trace trace, Edition edition, bool python_frames = true);

}  // namespace tracelens
