// host_ranges.hpp: stretches of host time that annotations name: fetching a batch, the optimizer's
// step, setting gradients to zero.
//   const HostRanges ranges{trace};
//   if (in_ranges(ranges.data_loading(), trace.tracks()[event.row], ts_ns)) ...
// By time on their thread, never by nesting: a range opened with record_function starts inside one
// Python frame and ends outside of it, so that nesting would clip it to microseconds.
#pragma once

#include <cstdint>
#include <span>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

struct HostRange {
  EventId event;
  TrackId track;
  std::int64_t start_ns = 0, end_ns = 0;
  std::int64_t open_until_ns = 0;  // latest end of this and the earlier ranges of the track
};

class HostRanges {
 public:
  explicit HostRanges(const Trace& trace);
  HostRanges(const Trace& trace, std::span<const std::uint32_t> annotations);  // rows of all
  // By track, then by start.
  [[nodiscard]] std::span<const HostRange> data_loading() const { return loading_; }
  [[nodiscard]] std::span<const HostRange> optimizer() const { return optimizer_; }
  [[nodiscard]] std::span<const HostRange> zero_grad() const { return zero_grad_; }
  // What the loader says of itself: whether batches are made by this process or by others. Neither,
  // where it says nothing.
  [[nodiscard]] bool loads_in_main_process() const { return loads_in_main_process_; }
  [[nodiscard]] bool loads_in_workers() const { return loads_in_workers_; }

 private:
  void add_annotation(const Trace& trace, EventId event);
  void add_loader_frames(const Trace& trace);

  std::vector<HostRange> loading_, optimizer_, zero_grad_;
  bool loads_in_main_process_ = false, loads_in_workers_ = false;
};

// Whether some range of the track is open at a time; a range does not hold its end.
[[nodiscard]] bool in_ranges(std::span<const HostRange> ranges, TrackId track, std::int64_t ts_ns);

}  // namespace tracelens
