#include "analysis/kit/open_steps.hpp"

#include <algorithm>
#include <queue>

namespace tracelens {

OpenSteps::OpenSteps(std::span<const Interval> steps) : none_{steps.size()} {
  std::vector<std::int64_t> bounds;
  for (const Interval& step : steps) bounds.insert(bounds.end(), {step.start, step.end});
  std::ranges::sort(bounds);
  bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
  std::priority_queue<std::size_t> open;  // the last to begin on top; those below it may have ended
  std::size_t next = 0;
  for (const std::int64_t ns : bounds) {
    while (next < steps.size() && steps[next].start <= ns) open.push(next++);
    while (!open.empty() && steps[open.top()].end <= ns) open.pop();
    from_.push_back({ns, open.empty() ? none_ : open.top()});
  }
}

std::size_t OpenSteps::at(std::int64_t ns) const {
  const auto after = std::ranges::upper_bound(from_, ns, {}, &From::ns);
  return after == from_.begin() ? none_ : (after - 1)->step;
}

}  // namespace tracelens
