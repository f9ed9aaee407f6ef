// edit.hpp: a change to the run that a trace shows, as the critical path's simulation understands it:
// shorter or longer kernels and stretches of host time, waits that go away.
//   PathEdit edit;
//   edit.scale_gpu(kernel, 0.5);
//   edit.scale_host(track, op_start_ns, op_end_ns, 0);
//   const std::int64_t saved = model.length_ns() - model.length_with(edit);
// An edit knows events, threads and times, nothing of the graph. Times are those of the trace. Factors
// above 1 lengthen; what is set to a time only becomes shorter. Where several changes, of one edit or of
// several, meet, one counts: that which leaves least, or where none shortens, that which lengthens most.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <tracelens/trace.hpp>
#include <vector>

#include "analysis/path/segment.hpp"

namespace tracelens {

class PathEdit {
 public:
  // --- GPU events ---
  void scale_gpu(EventId gpu_event, double factor) { gpu_.push_back({gpu_event, factor, kAbsent}); }
  void set_gpu(EventId gpu_event, std::int64_t ns) { gpu_.push_back({gpu_event, 1, ns}); }
  // From the launch call's start to this event's start, when nothing else holds it up.
  void set_launch_latency(EventId gpu_event, std::int64_t ns) {
    launches_.push_back({gpu_event, ns});
  }
  // From the end of the event before on its stream to this event's start.
  void set_kernel_gap(EventId gpu_event, std::int64_t ns) {
    kernel_gaps_.push_back({gpu_event, ns});
  }

  // --- host time of a thread, whether an op, a call or nothing that was recorded is open ---
  void scale_host(TrackId track, std::int64_t from_ns, std::int64_t to_ns, double factor) {
    host_.push_back({track, from_ns, to_ns, factor, kAbsent});
  }
  // The range takes no longer than this in all.
  void set_host(TrackId track, std::int64_t from_ns, std::int64_t to_ns, std::int64_t total_ns) {
    host_.push_back({track, from_ns, to_ns, 1, total_ns});
  }

  // --- waits ---
  // The call returns without waiting for the GPU.
  void drop_sync(EventId call) { syncs_.push_back(call); }

  // --- everything of a kind ---
  void scale_all_gpu(double factor) { all_gpu_ = factor; }
  void scale_all_host(double factor) { all_host_ = factor; }
  void drop_all_syncs() { no_syncs_ = true; }
  // Work starts as soon as its launch call does.
  void drop_launch_latency() { no_launch_latency_ = true; }
  // The same, and launch calls take no time.
  void drop_launch_cost() { no_launch_latency_ = no_launch_calls_ = true; }

  // All that a path may be bound by in this way takes no time; waits themselves stay.
  void drop_class(BoundBy bound_by) { classes_.push_back(bound_by); }

  // --- what was asked for ---
  struct GpuChange {
    EventId event;
    double factor;
    std::int64_t set_ns;  // kAbsent: by the factor
  };
  struct LagChange {
    EventId event;
    std::int64_t ns;
  };
  struct HostChange {
    TrackId track;
    std::int64_t from_ns, to_ns;
    double factor;
    std::int64_t total_ns;  // kAbsent: by the factor
  };
  [[nodiscard]] std::span<const GpuChange> gpu() const { return gpu_; }
  [[nodiscard]] std::span<const LagChange> launches() const { return launches_; }
  [[nodiscard]] std::span<const LagChange> kernel_gaps() const { return kernel_gaps_; }
  [[nodiscard]] std::span<const HostChange> host() const { return host_; }
  [[nodiscard]] std::span<const EventId> syncs() const { return syncs_; }
  [[nodiscard]] std::optional<double> all_gpu() const { return all_gpu_; }
  [[nodiscard]] std::optional<double> all_host() const { return all_host_; }
  [[nodiscard]] std::span<const BoundBy> classes() const { return classes_; }
  [[nodiscard]] bool no_syncs() const { return no_syncs_; }
  [[nodiscard]] bool no_launch_latency() const { return no_launch_latency_; }
  [[nodiscard]] bool no_launch_calls() const { return no_launch_calls_; }

 private:
  std::vector<GpuChange> gpu_;
  std::vector<LagChange> launches_, kernel_gaps_;
  std::vector<HostChange> host_;
  std::vector<EventId> syncs_;
  std::vector<BoundBy> classes_;
  std::optional<double> all_gpu_, all_host_;
  bool no_syncs_ = false, no_launch_latency_ = false, no_launch_calls_ = false;
};

// What an edit changes in the graph of one model, worked out once: lags, and what they become.
struct PathChanges {
  std::vector<std::uint32_t> lanes, extras;  // points, and numbers of extra edges
  std::vector<std::int64_t> lane_lags, extra_lags;
};

}  // namespace tracelens
