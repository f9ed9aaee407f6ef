// overhead.hpp: what recording costs the host, taken from its lags.
//   correct_overhead(graph, calls, {}, window, lags);
// Every recorded host event leaves two marks on its thread, its start and its end; what it costs to
// record is spread over them, and taken from the stretch of host time that holds the mark. Launches in
// compiled code cost more: their launcher describes its arguments to the profiler.
#pragma once

#include <tracelens/intervals.hpp>

#include "analysis/path/graph.hpp"
#include "analysis/path/lags.hpp"
#include "analysis/path/model.hpp"
#include "facts/calls.hpp"

namespace tracelens {

// Whether the trace was recorded as those that the costs were measured on: with shapes and frames.
[[nodiscard]] bool is_recorded_in_full(const Trace& trace);

// Changes the lags of host time inside the window. Times inside calls that wait for the GPU, and in
// ops that do little else, stay: they are round trips to the device.
void correct_overhead(const PathGraph& graph, const CallKinds& calls, const RecordingCosts& costs,
                      Interval window, PathLags& lags);

}  // namespace tracelens
