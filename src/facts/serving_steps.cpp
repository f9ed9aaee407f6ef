#include "facts/serving_steps.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "tree/time_math.hpp"

namespace tracelens {
namespace {

using Group = StepTokens::Group;
using Piece = re2::StringPiece;

std::optional<StepTokens> vllm_tokens(Piece name) {
  static const RE2 kPattern{R"(execute_\d+_context_\d+\(sq(\d+)sk(\d+)sqsq(\d+)sqsk(\d+)\))"
                            R"(_generation_\d+\(sq(\d+)sk(\d+)sqsq(\d+)sqsk(\d+)\))"};
  StepTokens found;
  auto& [c, g] = found;
  if (!RE2::Consume(&name, kPattern, &c.sq, &c.sk, &c.sqsq, &c.sqsk, &g.sq, &g.sk, &g.sqsq,
                    &g.sqsk))
    return std::nullopt;
  return found;
}

// Of "a=1 b=[2, 3] c=x": the last number given for a key; 0 when it is no whole number.
double number_of(Piece pairs, std::string_view key) {
  static const RE2 kPair{R"((\w+)=(\[[^\]]*\]|\S+))"};
  double found = 0;
  Piece name, value;
  while (RE2::FindAndConsume(&pairs, kPair, &name, &value)) {
    if (std::string_view{name.data(), name.size()} != key) continue;
    std::uint64_t number = 0;
    const char* const end = value.data() + value.size();
    const auto read = std::from_chars(value.data(), end, number);
    found = read.ec == std::errc{} && read.ptr == end ? static_cast<double>(number) : 0;
  }
  return found;
}

std::optional<StepTokens> sglang_tokens(const Piece& name) {
  static const RE2 kPattern{R"(^step\[((?:EXTEND|DECODE|MIXED)\b[^\]]*sqsq=\d+[^\]]*)\])"};
  Piece pairs;
  if (!RE2::PartialMatch(name, kPattern, &pairs)) return std::nullopt;
  const auto group = [&](const std::string& prefix) {
    return Group{.sq = number_of(pairs, prefix + "sq"),
                 .sk = number_of(pairs, prefix + "sk"),
                 .sqsq = number_of(pairs, prefix + "sqsq"),
                 .sqsk = number_of(pairs, prefix + "sqsk")};
  };
  return StepTokens{.context = group("c_"), .generation = group("g_")};
}

std::optional<StepTokens> atom_tokens(const Piece& name) {
  static const RE2 kPattern{R"(^(prefill|decode)\[(.*)\])"}, kSqsq{R"(\bsqsq=\d)"},
      kSqsk{R"(\bsqsk=)"};
  Piece phase, pairs;
  if (!RE2::PartialMatch(name, kPattern, &phase, &pairs) || !RE2::PartialMatch(pairs, kSqsq) ||
      !RE2::PartialMatch(pairs, kSqsk))
    return std::nullopt;
  const Group group{.sq = number_of(pairs, "tok"),
                    .sk = number_of(pairs, "sk"),
                    .sqsq = number_of(pairs, "sqsq"),
                    .sqsk = number_of(pairs, "sqsk")};
  // A step with both kinds of requests is called decode, and cannot be divided.
  return phase == "prefill" ? StepTokens{.context = group, .generation = {}}
                            : StepTokens{.context = {}, .generation = group};
}

}  // namespace

std::optional<StepTokens> parse_step_tokens(std::string_view annotation) {
  const Piece name{annotation.data(), annotation.size()};
  if (annotation.starts_with("execute_")) return vllm_tokens(name);
  if (annotation.starts_with("step[")) return sglang_tokens(name);
  return atom_tokens(name);
}

ServingSteps::ServingSteps(const Trace& trace) {
  for (const EventId event : trace.all_events()) {
    const Category category = trace.category(event);
    if ((category != Category::kUserAnnotation && category != Category::kGpuUserAnnotation) ||
        trace.phase(event) != Phase::kComplete)
      continue;
    if (const auto tokens = parse_step_tokens(trace.name(event)))
      steps_.push_back(
          {trace.names()[event.row], *tokens, trace.ts_ns()[event.row], end_of(trace, event)});
  }
  std::ranges::stable_sort(steps_, {}, &ServingStep::ts_ns);
  for (const ServingStep& step : steps_)
    latest_ends_.push_back(latest_ends_.empty() ? step.end_ns
                                                : std::max(latest_ends_.back(), step.end_ns));
}

const ServingStep* ServingSteps::around(const Trace& trace, EventId event) const {
  // The first step that ends later than the event is the first to raise the latest end above it.
  const auto found = std::ranges::upper_bound(latest_ends_, end_of(trace, event));
  if (found == latest_ends_.end()) return nullptr;
  const ServingStep& step = steps_[static_cast<std::size_t>(found - latest_ends_.begin())];
  return step.ts_ns <= trace.ts_ns()[event.row] ? &step : nullptr;
}

}  // namespace tracelens
