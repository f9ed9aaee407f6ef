#include "analysis/path/path_sums.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "io/parallel.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

// The GPU event that began last before a time, by its end; kNoPoint: none did. Whether the host or the GPU
// was waited for, the way from there soon is the way from the end of the run.
PathPoint last_gpu_end(const PathGraph& graph, std::int64_t before) {
  PathPoint last = kNoPoint;
  for (std::size_t first = 0; first < graph.gpu_count();) {
    const std::span<const std::uint32_t> lanes = graph.gpu_lanes();
    const auto end = static_cast<std::size_t>(
        std::ranges::upper_bound(lanes.subspan(first), lanes[first]) - lanes.begin());
    std::size_t begun = first, not_begun = end;
    while (begun < not_begun) {
      const std::size_t middle = std::midpoint(begun, not_begun);
      if (graph.time(graph.gpu_start(middle)) < before)
        begun = middle + 1;
      else
        not_begun = middle;
    }
    if (begun > first &&
        (last == kNoPoint || graph.time(graph.gpu_start(begun - 1)) > graph.time(last - 1)))
      last = graph.gpu_end(begun - 1);
    first = end;
  }
  return last;
}

struct PathPart {
  std::int64_t from_ns = 0, until_ns = 0;  // from the later to the earlier time
  PathPoint first = kNoPoint, last = kNoPoint;
  std::optional<PathSums> sums = {};
};

}  // namespace

void PathSums::add(const PathSums& earlier) {
  const auto add_all = [](Sums& to, const Sums& from) {
    for (std::size_t i = 0; i < to.size(); ++i) {
      to[i].ns += from[i].ns;
      to[i].segments += from[i].segments;
    }
  };
  add_all(sums_, earlier.sums_);
  for (std::uint32_t name = 0; name < place_of_name_.size(); ++name)
    if (const std::uint32_t place = earlier.place_of_name_[name]; place != kNotYet)
      add_all(of_name(name), earlier.sums_of_names_[place]);
  for (std::size_t i = 0; i < in_stretches_.size(); ++i)
    for (std::size_t bound_by = 0; bound_by < kBoundByNames.size(); ++bound_by)
      in_stretches_[i][bound_by] += earlier.in_stretches_[i][bound_by];
}

std::vector<std::pair<StringId, PathSums::Sum>> PathSums::names_of(std::size_t bound_by) const {
  std::vector<std::pair<StringId, Sum>> names;
  for (std::uint32_t name = 0; name < place_of_name_.size(); ++name)
    if (const std::uint32_t place = place_of_name_[name]; place != kNotYet)
      if (const Sum& sum = sums_of_names_[place][bound_by]; sum.segments > 0)
        names.emplace_back(StringId{name}, sum);
  return names;
}

BoundByTimes PathSums::times() const {
  BoundByTimes times{};
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = sums_[i].ns;
  return times;
}

CriticalPath sum_critical_path(const PathGraph& graph, const BoundByClasses& classes,
                               std::optional<Interval> window, int threads, PathSums& sums,
                               std::size_t least_part) {
  const PathPoint start = last_point(graph, window);
  if (start == kNoPoint) return {};
  const std::int64_t begin = window ? window->start : first_time(graph);
  const std::int64_t until = walk_end(window);
  const auto sum_up = [&](PathPoint from, std::int64_t to_ns, PathSums& into) {
    return walk_back(graph, from, to_ns, [&](const Predecessor& before, PathPoint point) {
      into.take(segment_of(graph, classes, before, point, until));
    });
  };
  // Each part has sums of its own, with a place for every name and stretch.
  const std::size_t count = std::clamp<std::size_t>(
      graph.size() / std::max(least_part, sums.places()), 1, static_cast<std::size_t>(threads));
  const std::int64_t length = minus_ns(graph.time(start), begin) / static_cast<std::int64_t>(count);
  std::vector<PathPart> parts(count);
  for (std::size_t i = 0; i < count; ++i) {
    parts[i].from_ns = minus_ns(graph.time(start), times_ns(length, static_cast<std::int64_t>(i)));
    if (i > 0) parts[i - 1].until_ns = std::max(parts[i].from_ns, until);
  }
  parts.back().until_ns = until;
  io::for_each_part(threads, count, [&](std::size_t i) {
    if (i == 0) {
      parts[0].last = sum_up(start, parts[0].until_ns, sums);
      return;
    }
    PathPart& part = parts[i];
    const PathPoint guess = last_gpu_end(graph, plus_ns(part.from_ns, length / 4));
    if (guess == kNoPoint) return;
    part.first = walk_back(graph, guess, part.from_ns, [](const Predecessor&, PathPoint) {});
    part.sums.emplace(sums.of_nothing());
    part.last = sum_up(part.first, part.until_ns, *part.sums);
  });
  PathPoint at = parts[0].last;
  for (const PathPart& part : std::span{parts}.subspan(1)) {
    if (part.first == at) {
      sums.add(*part.sums);
      at = part.last;
    } else {
      at = sum_up(at, part.until_ns, sums);
    }
  }
  CriticalPath path = path_between(graph, at, start, window);
  path.bound_by = sums.times();
  return path;
}

}  // namespace tracelens
