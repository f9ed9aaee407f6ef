// SERVE-2: steps that work on prompts make those wait that are generating. A matter of latency: for
// information.
#include <fmt/format.h>

#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/rules/serve_steps.hpp"

namespace tracelens {
namespace serve_2 {

constexpr Number kNumbers[] = {
    {"least_steps_pct", 10, "% of the steps that work on prompts"},
    {"least_times", 3, "times that they take longer than steps that only generate"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  std::int64_t prompts = 0, prompt_ns = 0, decodes = 0, decode_ns = 0;
  for (const ServedWindowStep& one : served_steps(c)) {
    switch (one.step->said.phase) {
      case ServingPhase::kPrefill:
      case ServingPhase::kMixed:
        ++prompts, prompt_ns += one.step->wall_ns;
        break;
      case ServingPhase::kDecode:
        ++decodes, decode_ns += one.step->wall_ns;
        break;
      case ServingPhase::kDenoise:
      case ServingPhase::kNone:
        break;
    }
  }
  if (prompts == 0 || decodes == 0) return std::nullopt;
  const double share = percentage(prompts, prompts + decodes);
  const std::int64_t with = prompt_ns / prompts, without = decode_ns / decodes;
  if (share < n["least_steps_pct"] || without <= 0 ||
      static_cast<double>(with) < n["least_times"] * static_cast<double>(without))
    return std::nullopt;
  const auto longer = static_cast<std::int64_t>(share / 100 * static_cast<double>(with - without));
  Draft draft;
  draft.where = {
      {.kind = "range", .name = "steps with prompts", .time_ns = prompt_ns, .count = prompts}};
  draft.verdict = draft.tell(
      "{} of the steps work on prompts and take {} where the others take {}: on average a token "
      "comes {} later.",
      derived("serving_phases", "share of steps", share, "%", {{"phase", "prefill, mixed"}}),
      derived("serving_phases", "mean wall time", in_ms(with), "ms", {{"phase", "prefill, mixed"}}),
      derived("serving_phases", "mean wall time", in_ms(without), "ms", {{"phase", "decode"}}),
      derived("serving_phases", "added to the time between tokens", in_ms(longer), "ms"));
  draft.formula = "none: a matter of latency";
  draft.tries = {"chunked prefill, with a smaller budget of tokens per step",
                 "prefill on other GPUs than decode"};
  draft.verify = {.table = "serving_phases",
                  .column = "mean wall time",
                  .now = in_ms(with),
                  .expected = fmt::format("< {}", figure(n["least_times"] * in_ms(without), "ms")),
                  .is_derived = true};
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace serve_2

extern const Rule kServe2;
constinit const Rule kServe2 = {.id = "SERVE-2",
                                .title = "Prefill blocks decode",
                                .numbers = serve_2::kNumbers,
                                .find = serve_2::find};

}  // namespace tracelens
