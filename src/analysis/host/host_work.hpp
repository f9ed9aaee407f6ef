// host_work.hpp: what the host asked of the GPU: every GPU event with its stream and the call that
// launched it, and what the other calls were for. The ground that the tables of this room stand on.
//   const HostWork work{facts};
//   for (const GpuJob& job : work.jobs()) if (job.call.valid()) ...
//   if (work.class_of(call) == CallClass::kSync) ...
// Events are linked by their correlation ids where the tree has no link. Several threads may ask at
// the same time; the facts must outlive it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <tracelens/trace.hpp>
#include <vector>

#include "analysis/kit/open_steps.hpp"
#include "facts/calls.hpp"
#include "facts/host_ranges.hpp"
#include "facts/once.hpp"
#include "facts/trace_facts.hpp"
#include "tree/host_rows.hpp"

namespace tracelens {

struct GpuJob {
  EventId gpu;
  EventId call;  // invalid: it is not in the trace
  std::int64_t device = 0, stream = 0;
};

// A step of the loop: what the profiler marked, the steps of a serving engine, or else the whole trace.
struct HostStep {
  std::string name;
  std::int64_t start_ns = 0, end_ns = 0;
};

class HostWork {
 public:
  explicit HostWork(const TraceFacts& facts);

  [[nodiscard]] const TraceFacts& facts() const { return facts_; }
  [[nodiscard]] const Trace& trace() const { return facts_.trace(); }
  // Every GPU event with a time, launched in the trace or not, in file order.
  [[nodiscard]] std::span<const GpuJob> jobs() const { return jobs_; }
  // Places among jobs() of those with a call: by call in file order, those of one call in file order.
  [[nodiscard]] std::span<const std::uint32_t> launched() const { return launched_; }
  [[nodiscard]] std::span<const std::uint32_t> launched_by(EventId call) const;
  // The op a job is charged to; invalid: none.
  [[nodiscard]] EventId op_of(const GpuJob& job) const;
  [[nodiscard]] bool several_devices() const { return several_devices_; }
  [[nodiscard]] std::int64_t origin_ns() const { return origin_ns_; }  // when the trace begins

  // kLaunch: a call with a GPU event; where no call has one, by the name. A copy that the driver
  // stages is kSync, whatever its call.
  [[nodiscard]] CallClass class_of(EventId call) const;
  [[nodiscard]] bool launches_work(EventId call) const { return has_work_[call.row]; }
  [[nodiscard]] std::span<const EventId> sync_calls() const { return sync_calls_; }  // by start
  // Complete calls of the runtime and the driver, in file order.
  [[nodiscard]] std::span<const EventId> calls() const { return calls_; }

  [[nodiscard]] std::span<const HostStep> steps() const;  // by start; at least one
  // Of the steps that are open at a time, or end then, the one that began last; steps().size(): none.
  [[nodiscard]] std::size_t step_at(std::int64_t ns) const;

  [[nodiscard]] const HostRanges& ranges() const;
  [[nodiscard]] const HostRows& rows() const;  // ops, calls and Python frames, in tree order

 private:
  const TraceFacts& facts_;
  const CallKinds& kinds_;
  std::vector<GpuJob> jobs_;
  std::vector<std::uint32_t> launched_;
  std::vector<EventId> calls_, sync_calls_;
  std::vector<bool> has_work_, is_staged_;  // by row of a call
  std::int64_t origin_ns_ = 0;
  bool several_devices_ = false;
  mutable Once<std::vector<HostStep>> steps_;
  mutable Once<OpenSteps> open_steps_;
};

}  // namespace tracelens
