// step_events.hpp: which events of a trace belong to which step.
//   const std::vector<StepRoot> roots = find_split_roots(trace, edition);
//   const StepEvents events{trace, roots, edition};
//   events.step_of()[row]                      // a step, kNoStep or kEveryStep
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tracelens/edition.hpp>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

struct StepRoot {
  std::string name;
  TrackId track;  // of the annotation
  std::int64_t ts_ns = 0, end_ns = 0;
};

// By start. The annotations of a serving engine; without any the iterations of the loop that was
// recorded, which in our own edition the profiler's marks (ProfilerStep#3) may tell too.
[[nodiscard]] std::vector<StepRoot> find_split_roots(const Trace& trace, Edition edition);

class StepEvents {
 public:
  static constexpr std::uint32_t kNoStep = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint32_t kEveryStep = kNoStep - 1;  // names of processes and threads

  // The GPU work of a step.
  struct Stats {
    std::uint64_t gpu_events = 0;
    std::int64_t gpu_sum_ns = 0;
    std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
    std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
    // First dimensions of attention and quantization ops, where they were read.
    std::set<std::int64_t> batch_sizes = {};
  };

  StepEvents(const Trace& trace, std::span<const StepRoot> roots, Edition edition);

  [[nodiscard]] std::span<const std::uint32_t> step_of() const { return step_of_; }
  [[nodiscard]] const Stats& stats(std::uint32_t step) const { return stats_[step]; }

 private:
  void place_host_events(const Trace& trace, std::span<const StepRoot> roots, Edition edition);
  void place_linked_events(const Trace& trace, Edition edition);
  void place_gpu_annotations(const Trace& trace);
  void note_batch_size(const Trace& trace, EventId event, std::uint32_t step);

  std::vector<std::uint32_t> step_of_;  // by event row
  std::vector<Stats> stats_;            // by step
};

}  // namespace tracelens
