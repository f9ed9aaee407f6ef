// rank_steps.hpp: computing, communicating, copying and idle time of one rank's GPU, per step.
//   const GpuBusy busy{trace, kinds};
//   for (const RankStep& step : rank_steps(trace, busy)) ...       // the whole trace comes first
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <tracelens/trace.hpp>
#include <vector>

#include <tracelens/intervals.hpp>

namespace tracelens {

// When the GPU did what; every set is sorted and disjoint. All GPU events count, linked or not.
struct GpuBusy {
  std::vector<Interval> computing, communicating, copying, any;
  std::vector<Interval> exposed_comm, exposed_copy;
};
// `is_communication` says so per event row; events that are no GPU work are not asked for. Those of
// another rank, where a trace has several, are left out.
inline constexpr std::uint8_t kOfAnotherRank = 2;
[[nodiscard]] GpuBusy gpu_busy(const Trace& trace, std::span<const std::uint8_t> is_communication);

// The time the set has inside the window.
[[nodiscard]] std::int64_t length_within(std::span<const Interval> set, const Interval& window);

struct RankStep {
  std::string name;  // "ProfilerStep#7"; "all" for the whole trace
  std::int64_t total_ns = 0, computation_ns = 0, exposed_comm_ns = 0, exposed_copy_ns = 0;
  std::int64_t idle_ns = 0, comm_ns = 0, copy_ns = 0;
};

// Steps as the GPU saw them, or as the host marked them when the GPU's marks are not in the trace.
// Nothing but the whole when none are marked; empty when the GPU did nothing.
[[nodiscard]] std::vector<RankStep> rank_steps(const Trace& trace, const GpuBusy& busy);

}  // namespace tracelens
