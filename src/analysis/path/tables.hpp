// tables.hpp: the critical path as tables, and what a run would gain by changes to it.
//   critical_path_summary(facts)                 // what the run is bound by
//   what_if(model, groups)                       // what it would gain if kinds of work took no time
#pragma once

#include <optional>
#include <span>
#include <string>
#include <tracelens/intervals.hpp>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>
#include <vector>

#include "analysis/path/model.hpp"
#include "facts/trace_facts.hpp"

namespace tracelens {

// Every segment of the path in order of time, of the whole trace where there is no window. Modules and
// Python frames where the tree has them.
[[nodiscard]] Table critical_path_table(const TraceFacts& facts, const PathModel& model,
                                        std::optional<Interval> window = {});

// The same by what it is bound by, the costliest first, each followed by the names that it is
// charged to most. Needs no model, which takes more time and memory; no rows where no call in the
// trace launched GPU work.
struct PathSummary {
  Table table;                          // critical_path_summary
  std::vector<BoundByTimes> stretches;  // the path in each; empty where the table has no rows
};
// `stretches` of time: in order, without overlap.
[[nodiscard]] PathSummary critical_path_summary(const TraceFacts& facts,
                                                std::span<const Interval> stretches = {},
                                                std::optional<Interval> window = {});

// GPU events that are asked about together.
struct WhatIfGroup {
  std::string name;  // "category GEMM"
  std::vector<EventId> gpu_events;
};
// What the steps would take without each kind of work; of the window of the model.
[[nodiscard]] Table what_if_table(const TraceFacts& facts, const PathModel& model,
                                  std::span<const WhatIfGroup> groups);

}  // namespace tracelens
