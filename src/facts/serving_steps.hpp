// serving_steps.hpp: the steps of a serving engine (vLLM, SGLang, ATOM), from the annotations it
// writes around them with the token counts of the requests it works on.
//   const ServingSteps steps{trace};
//   if (const ServingStep* step = steps.around(trace, event)) use(step->tokens);
#pragma once

#include <cstdint>
#include <tracelens/model.hpp>
#include <tracelens/trace.hpp>
#include <vector>

#include "facts/step_annotation.hpp"

namespace tracelens {

struct ServingStep {
  StringId name;
  StepTokens tokens;
  std::int64_t ts_ns = 0, end_ns = 0;
};

// The annotations around the steps of the run, by start: the detailed ones, or all plain ones where
// there is no detailed one. Only those of the host, with a time and a duration.
[[nodiscard]] std::vector<EventId> find_step_roots(const Trace& trace);

class ServingSteps {
 public:
  explicit ServingSteps(const Trace& trace);

  // The first step, by start, that an event with a time and a duration lies in; null: none. Threads
  // are not compared: the work of a step may be handed to others. Other annotations around the
  // event (ProfilerStep#3) do not matter.
  [[nodiscard]] const ServingStep* around(const Trace& trace, EventId event) const;

 private:
  std::vector<ServingStep> steps_;         // by start
  std::vector<std::int64_t> latest_ends_;  // of the steps up to here
};

}  // namespace tracelens
