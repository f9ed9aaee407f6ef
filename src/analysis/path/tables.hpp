// tables.hpp: the critical path as tables, and what a run would gain by changes to it.
//   critical_path_summary(facts)                 // what the run is bound by
//   what_if(model, groups)                       // what it would gain if kinds of work took no time
#pragma once

#include <functional>
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
// `stretches` of time: in order, without overlap; asked for only when the graph is there, since what
// they come from may still be in the making by another thread.
using Stretches = std::function<std::vector<Interval>()>;
[[nodiscard]] PathSummary critical_path_summary(const TraceFacts& facts,
                                                const Stretches& find_stretches = {},
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
