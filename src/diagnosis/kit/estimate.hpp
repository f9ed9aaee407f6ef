// estimate.hpp: what some edits together would save, by two ways of looking at the run.
//   const Estimate both = estimate(path, changes);
//   both.expected_ns()
// The path's simulation is exact about the past and brittle about the future: near the balance of
// host and GPU a small error decides which side binds. The arithmetic of bottlenecks (what is
// removed from the busiest resource is saved) knows nothing of order and errs less there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "analysis/path/model.hpp"

namespace tracelens {

struct Estimate {
  std::int64_t path_ns = 0, arithmetic_ns = 0;

  // Whether the larger is within a factor of 1.5 of the smaller.
  [[nodiscard]] bool agree() const;
  // The larger. Each misses savings of its own: the path those behind a side that binds by a small
  // error, the arithmetic those of resources that waits chain to each other. On recorded pairs of runs
  // with and without the cause, the larger was nearer to the truth in 27 of 29.
  [[nodiscard]] std::int64_t expected_ns() const { return most_ns(); }
  [[nodiscard]] std::int64_t least_ns() const { return std::min(path_ns, arithmetic_ns); }
  [[nodiscard]] std::int64_t most_ns() const { return std::max(path_ns, arithmetic_ns); }
};

// Of a usable model.
[[nodiscard]] Estimate estimate(const PathModel& path, std::span<const PathChanges* const> changes);
[[nodiscard]] Estimate estimate(const PathModel& path, const PathEdit& edit);

// GPU time that edits take away, of durations added up; no event gives more than it has.
[[nodiscard]] std::int64_t gpu_time_saved(const Trace& trace,
                                          std::span<const PathEdit* const> edits);
[[nodiscard]] std::int64_t gpu_time_saved(const Trace& trace, const PathEdit& edit);

}  // namespace tracelens
