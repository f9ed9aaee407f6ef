// run.hpp: the steps of a serving engine, and the GPU work each of them asked for.
//   const ServingRun run{facts, false};
//   for (const ServedStep& step : run.steps()) print(step.said.phase, step.gpu.busy_ns);
//   run.work()[i].step == run.steps().size()                     // launched outside all steps
// GPU work belongs to the step in which it was launched, graph launches included, whenever it ran.
// Every instant in which the GPU works belongs to the work that started first, every instant in which
// it waits to the work that ends the wait: so the times of all steps and of what is outside them add
// up to those of gpu_timeline, to the nanosecond. That begins and ends with GPU work; what the steps
// take before and after it is wait_ns, of the step with the first work and of the last one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tracelens/trace.hpp>
#include <vector>

#include "facts/step_annotation.hpp"
#include "facts/trace_facts.hpp"

namespace tracelens {

// a + b of counts that a file gives: stops at the border of int64.
[[nodiscard]] std::int64_t add_counts(std::int64_t a, std::int64_t b);

struct ServedTimes {
  std::int64_t busy_ns = 0, idle_ns = 0, exposed_comm_ns = 0;
  // While the GPU waits for the first work of the trace, or has done the last, but a step is open.
  std::int64_t wait_ns = 0;
  std::int64_t launch_ns = 0;  // host time of the calls that launched the work
  std::int64_t gpu_events = 0, launches = 0, graph_launches = 0;
  void add(const ServedTimes& more);
};

struct ServedStep {
  StepAnnotation said;
  std::int64_t start_ns = 0, end_ns = 0;
  // To the start of the next step; of the last one until it has ended and its GPU work is done.
  std::int64_t wall_ns = 0;
  ServedTimes gpu;
  std::optional<std::int64_t> first_gpu_ns = {};  // when the first of its work started

  [[nodiscard]] std::int64_t tokens() const {
    return add_counts(said.context_sum, said.generation_sum);
  }
  // Keys and values attended to, over all requests; none: the annotation does not say.
  [[nodiscard]] std::optional<std::int64_t> kv_tokens() const;
};

struct ServedWork {
  EventId event;
  std::uint32_t step = 0;
  std::int64_t busy_ns = 0;  // its part of the busy time
};

class ServingRun {
 public:
  // `include_unlinked`: also GPU events without a launch; they belong to the step they run in.
  ServingRun(const TraceFacts& facts, bool include_unlinked);

  [[nodiscard]] std::span<const ServedStep> steps() const { return steps_; }  // by start
  [[nodiscard]] const ServedTimes& outside() const { return outside_; }
  [[nodiscard]] std::span<const ServedWork> work() const { return work_; }  // by start
  // The first step, by start, that is open at a time; steps().size() when none is.
  [[nodiscard]] std::size_t step_at(std::int64_t ns) const;
  // In which step a GPU event was launched.
  [[nodiscard]] std::size_t step_of(EventId gpu_event) const;
  // Of steps().size(): kNone.
  [[nodiscard]] ServingPhase phase(std::size_t step) const {
    return step < steps_.size() ? steps_[step].said.phase : ServingPhase::kNone;
  }
  [[nodiscard]] bool has_tokens() const;    // whether any step says how many it works on
  [[nodiscard]] bool has_contexts() const;  // whether any step says its context length

 private:
  void find_steps();
  void divide_time(std::span<const EventId> events);
  void add_waits(std::int64_t gpu_end_ns);
  void divide_exposed_communication();
  void add_launches();
  ServedTimes& times_of(std::size_t step) {
    return step < steps_.size() ? steps_[step].gpu : outside_;
  }

  const TraceFacts& facts_;
  const Trace& trace_;
  std::vector<ServedStep> steps_;
  std::vector<std::int64_t> latest_ends_;  // of the steps up to here
  ServedTimes outside_;
  std::vector<ServedWork> work_;
};

}  // namespace tracelens
