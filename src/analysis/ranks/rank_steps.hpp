// rank_steps.hpp: computing, communicating, copying and idle time of one rank's GPU, per step.
//   const GpuBusy busy = gpu_busy(trace, is_communication);
//   for (const RankStep& step : rank_steps(trace, busy)) ...       // the whole trace comes first
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <tracelens/trace.hpp>
#include <vector>

#include <tracelens/intervals.hpp>

namespace tracelens {

// A sorted and disjoint set of times, asked about any number of windows.
class BusyTimes {
 public:
  BusyTimes() = default;
  explicit BusyTimes(std::vector<Interval> intervals);
  [[nodiscard]] const std::vector<Interval>& intervals() const { return intervals_; }
  // The time the set has inside the window; windows that overlap cost no more than others.
  [[nodiscard]] std::int64_t within(const Interval& window) const;

 private:
  std::vector<Interval> intervals_;
  std::vector<std::int64_t> before_;  // by interval: the length of all before it; the whole last
};

// When the GPU did what. All GPU events count, linked or not.
struct GpuBusy {
  BusyTimes computing, communicating, copying, any, exposed_comm, exposed_copy;
};
// `is_communication` says so per event row; events that are no GPU work are not asked for. Those of
// another rank, where a trace has several, are left out.
inline constexpr std::uint8_t kOfAnotherRank = 2;
[[nodiscard]] GpuBusy gpu_busy(const Trace& trace, std::span<const std::uint8_t> is_communication);

struct RankStep {
  std::string name;  // "ProfilerStep#7"; "all" for the whole trace
  std::int64_t total_ns = 0, computation_ns = 0, exposed_comm_ns = 0, exposed_copy_ns = 0;
  std::int64_t idle_ns = 0, comm_ns = 0, copy_ns = 0;
};

// Steps as the GPU saw them, or as the host marked them when the GPU's marks are not in the trace.
// Nothing but the whole when none are marked; empty when the GPU did nothing.
[[nodiscard]] std::vector<RankStep> rank_steps(const Trace& trace, const GpuBusy& busy);

}  // namespace tracelens
