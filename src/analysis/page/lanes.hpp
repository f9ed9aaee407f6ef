// lanes.hpp: the lanes of the timeline: steps, streams, and the threads that launch work.
//   std::vector<PageLane> lanes = page_lanes({runs, modules, ...}, options);
// A stream whose slices overlap has rows below each other, at most four; what finds no room joins
// runs. Modules and annotations have a row for each depth, at most eight; deeper ones are not shown.
#pragma once

#include <span>
#include <tracelens/page.hpp>
#include <vector>

#include "analysis/page/names.hpp"
#include "analysis/page/ops.hpp"
#include "analysis/page/spans.hpp"
#include "analysis/page/tree.hpp"
#include "analysis/page/work_classes.hpp"

namespace tracelens {

// What the lanes of one run are made of.
struct LaneSource {
  const PageSource& source;
  const HostSpans& modules;
  std::size_t run = 0;
  std::int64_t origin_ns = 0;  // the time 0 of the page
  TraceNames& names;
  TraceOps& ops;
};

[[nodiscard]] std::vector<PageLane> page_lanes(std::span<LaneSource> runs,
                                               const WorkClasses& classes, const PageTree& tree,
                                               const PageOptions& options);

// So many slices for each lane of a budget: by its events, with a least number for all.
[[nodiscard]] std::vector<std::size_t> lane_shares(std::span<const std::size_t> events,
                                                   std::size_t budget);

}  // namespace tracelens
