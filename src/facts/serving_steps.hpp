// serving_steps.hpp: the steps of a serving engine (vLLM, SGLang, ATOM), from the annotations it
// writes around them with the token counts of the requests it works on.
//   const ServingSteps steps{trace};
//   if (const ServingStep* step = steps.around(trace, event)) use(step->tokens);
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <tracelens/model.hpp>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

// The counts in the name of an annotation; none when it has not all of them.
//   execute_64_context_0(sq0sk0sqsq0sqsk0)_generation_64(sq64sk131072sqsq64sqsk131072)
//   step[DECODE bs=32 g_sq=32 g_sk=32785 g_sqsq=32 g_sqsk=32785]
//   decode[bs=128 tok=384 sqsq=132612 sqsk=1114112 sk=258048]
[[nodiscard]] std::optional<StepTokens> parse_step_tokens(std::string_view annotation);

struct ServingStep {
  StringId name;
  StepTokens tokens;
  std::int64_t ts_ns = 0, end_ns = 0;
};

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
