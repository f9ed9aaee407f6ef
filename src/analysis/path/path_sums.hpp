// path_sums.hpp: the time on a critical path by what it is bound by and by name, without its segments.
//   PathSums sums{trace, stretches};
//   const CriticalPath path = sum_critical_path(graph, classes, std::nullopt, threads, sums);
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <tracelens/intervals.hpp>
#include <utility>
#include <vector>

#include "analysis/path/path.hpp"

namespace tracelens {

class PathSums {
 public:
  struct Sum {
    std::int64_t ns = 0, segments = 0;
    void add(std::int64_t more_ns) {
      ns += more_ns;
      ++segments;
    }
  };
  using Sums = std::array<Sum, kBoundByNames.size()>;

  // `stretches` of time: in order, without overlap.
  PathSums(const Trace& trace, std::span<const Interval> stretches)
      : trace_{trace},
        stretches_{stretches},
        in_stretches_(stretches.size()),
        begun_{stretches.size()},
        place_of_name_(trace.string_count(), kNotYet) {}

  [[nodiscard]] PathSums of_nothing() const { return {trace_, stretches_}; }
  // From the last to the first.
  void take(const PathSegment& segment) {
    const std::int64_t ns = segment.end_ns - segment.start_ns;
    const auto place = static_cast<std::size_t>(segment.bound_by);
    sums_[place].add(ns);
    while (begun_ > 0 && stretches_[begun_ - 1].start >= segment.end_ns) --begun_;
    for (std::size_t i = begun_; i > 0 && stretches_[i - 1].end > segment.start_ns; --i)
      in_stretches_[i - 1][place] += std::min(stretches_[i - 1].end, segment.end_ns) -
                                     std::max(stretches_[i - 1].start, segment.start_ns);
    if (segment.owner.valid()) of_name(trace_.names()[segment.owner.row].row)[place].add(ns);
  }
  void add(const PathSums& earlier);  // as if its segments were taken now

  // Sums there may be: of names and of stretches by all that they may be bound by.
  [[nodiscard]] std::size_t places() const {
    return kBoundByNames.size() * (place_of_name_.size() + in_stretches_.size());
  }
  [[nodiscard]] const Sum& of(std::size_t bound_by) const { return sums_[bound_by]; }
  // Those whose time it is, by name.
  [[nodiscard]] std::vector<std::pair<StringId, Sum>> names_of(std::size_t bound_by) const;
  [[nodiscard]] BoundByTimes times() const;
  [[nodiscard]] const std::vector<BoundByTimes>& in_stretches() const { return in_stretches_; }

 private:
  static constexpr auto kNotYet = std::numeric_limits<std::uint32_t>::max();
  [[nodiscard]] Sums& of_name(std::uint32_t name) {
    std::uint32_t& place = place_of_name_[name];
    if (place == kNotYet) {
      place = static_cast<std::uint32_t>(sums_of_names_.size());
      sums_of_names_.emplace_back();
    }
    return sums_of_names_[place];
  }

  const Trace& trace_;
  std::span<const Interval> stretches_;
  std::vector<BoundByTimes> in_stretches_;
  std::size_t begun_;  // stretches, before the end of a segment
  Sums sums_;
  std::vector<Sums> sums_of_names_;           // of those on the path
  std::vector<std::uint32_t> place_of_name_;  // there, by StringId
};

// As critical_path(); of the result `segments` are left out. With several threads each walks a part of
// the time, from where the way probably is: the sums of a part count only if the way did come there. There
// is at least one thread; a part has no fewer points than `least_part`, nor than sums of its own.
[[nodiscard]] CriticalPath sum_critical_path(const PathGraph& graph, const BoundByClasses& classes,
                                             std::optional<Interval> window, int threads,
                                             PathSums& sums, std::size_t least_part = 1 << 16);

}  // namespace tracelens
