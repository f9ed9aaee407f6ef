// model.hpp: the run that a trace shows as a graph that can be asked "what if": how long the steps
// would take without the profiler, and how long after some edits.
//   const PathModel model{facts};          // facts: a tree with link_by_correlation
//   if (!model.usable()) say(model.why_not());
//   const std::int64_t saved = model.length_ns() - model.length_with(edit);
// The window is what the marked steps span, else the whole trace. Two changes are always made before
// any other: the GPU has nothing left to do from before the window, and the host does not pay for being
// recorded. Several threads may ask at the same time; facts must outlive the model.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/intervals.hpp>
#include <tracelens/trace.hpp>
#include <vector>

#include "analysis/path/edit.hpp"
#include "analysis/path/segment.hpp"
#include "facts/trace_facts.hpp"

namespace tracelens {

class HostRanges;
class PathGraph;

// What recording an event costs the host.
struct RecordingCosts {
  std::int64_t op_ns = 6500, call_ns = 2300, memory_ns = 350, python_ns = 500;
  std::int64_t plain_op_ns = 2000;  // of op_ns, in traces without shapes or without Python frames
  // Of a kernel launch in compiled code, besides its op: the launcher describes its arguments to the
  // profiler, and every call out of a long generated function looks for its line.
  std::int64_t compiled_ns = 100000;
  double largest_share = 0.6;           // of any stretch of host time
  double compiled_share = 0.9;          // of one beside such a launch
  std::int64_t carry_limit_ns = 20000;  // what one stretch cannot give is taken from the next ones
};

struct PathOptions {
  std::optional<Interval> window;  // else what the steps span
  bool correct_overhead = true;
  RecordingCosts costs = {};
};

// Bottleneck arithmetic, for the whole window: T = max(host, gpu, loader) + rest.
struct Resources {
  std::int64_t host_ns = 0;       // the launching thread's work, without waits
  std::int64_t gpu_ns = 0;        // busy time of the busiest device
  std::int64_t least_gpu_ns = 0;  // after edits: if they cut only time that no other work hides
  std::int64_t loader_ns = 0;     // waiting for batches that other processes make
  std::int64_t rest_ns = 0;       // what no single resource explains
  [[nodiscard]] std::int64_t total_ns() const {
    return std::max({host_ns, gpu_ns, loader_ns}) + rest_ns;
  }
};

// The window after some edits.
struct PathOutcome {
  std::int64_t length_ns = 0;
  Resources resources;
};

class PathModel {
 public:
  explicit PathModel(const TraceFacts& facts, const PathOptions& options = {});
  PathModel(PathModel&&) noexcept;
  PathModel& operator=(PathModel&&) noexcept;
  ~PathModel();

  // False: the trace has no host calls with GPU work or most of it is not theirs, it is of JAX, or the
  // simulation does not give back what was recorded. Then all times are 0.
  [[nodiscard]] bool usable() const;
  [[nodiscard]] std::string_view why_not() const;  // a sentence; empty when usable

  [[nodiscard]] Interval window() const;    // in times of the trace
  [[nodiscard]] std::size_t steps() const;  // in the window; at least 1
  // From the window's start to its last work: as recorded, but without backlog; without profiler, too.
  [[nodiscard]] std::int64_t recorded_ns() const;
  [[nodiscard]] std::int64_t length_ns() const;  // T
  [[nodiscard]] std::int64_t length_with(const PathEdit& edit) const;
  [[nodiscard]] PathOutcome outcome_with(std::span<const PathEdit* const> edits) const;
  // The same for sets of edits that are tried one after the other. Changes are of this model alone.
  [[nodiscard]] PathChanges changes_of(const PathEdit& edit) const;
  [[nodiscard]] PathOutcome outcome_of(std::span<const PathChanges* const> changes) const;
  // Shapes and Python frames were recorded, as when the costs of recording were measured.
  [[nodiscard]] bool costs_are_calibrated() const;

  // The critical path of length_ns(), from the window's start on. Times are simulated ones, which
  // start at the window's start.
  [[nodiscard]] std::span<const PathSegment> segments() const;
  [[nodiscard]] const BoundByTimes& bound_by() const;
  // When a GPU event runs in the simulation of length_ns(). None: not in the window.
  [[nodiscard]] std::optional<Interval> simulated(EventId gpu_event) const;
  // How much longer a GPU event may take before the window does. None: not in the window.
  [[nodiscard]] std::optional<std::int64_t> slack_ns(EventId gpu_event) const;
  // Host time of a thread in a stretch of the trace after the correction, without waits for the GPU.
  [[nodiscard]] std::int64_t host_ns(TrackId track, std::int64_t from_ns, std::int64_t to_ns) const;
  // The thread that most GPU work of the window is launched from.
  [[nodiscard]] TrackId launching_track() const;

  // The critical path as recorded, nothing left out: of the whole trace, or in a window.
  [[nodiscard]] CriticalPath recorded_path(std::optional<Interval> window = {}) const;
  [[nodiscard]] const PathGraph& graph() const;  // of the whole trace
  [[nodiscard]] const HostRanges& host_ranges() const;

  [[nodiscard]] Resources resources() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace tracelens
