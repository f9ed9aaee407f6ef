// strips.hpp: how busy each GPU of a run was over the time, for the overview.
//   for (PageStrip& strip : busy_strips(run, page.span_ns)) page.strips.push_back(std::move(strip));
// As in gpu_timeline, communication counts while nothing computes, and copies while neither does.
#pragma once

#include <cstdint>
#include <span>
#include <tracelens/intervals.hpp>
#include <tracelens/page.hpp>
#include <vector>

#include "analysis/page/work_classes.hpp"

namespace tracelens {

inline constexpr std::size_t kStripBuckets = 300;

// One for each GPU, by number; at most 16. Of several runs the label names the run.
[[nodiscard]] std::vector<PageStrip> busy_strips(const PageSource& run, std::int64_t span_ns);

// Of any work, in ns of the page.
struct StripTimes {
  std::vector<Interval> computing, communicating, copying;  // in any order
};
[[nodiscard]] PageStrip busy_strip(std::string label, StripTimes times, std::int64_t span_ns);

}  // namespace tracelens
