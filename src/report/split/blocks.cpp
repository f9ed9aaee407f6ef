#include "report/split/blocks.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace tracelens {
namespace {

std::vector<double> load_of(ServingPhase phase, const StepAnnotation& step) {
  const StepTokens& tokens = step.tokens;
  if (phase == ServingPhase::kDecode) return {tokens.generation.sq, tokens.generation.sk};
  return {static_cast<double>(step.context_requests), static_cast<double>(step.generation_requests),
          tokens.context.sq, tokens.generation.sq};
}

std::vector<double> distance_of(ServingPhase phase, std::span<const StepAnnotation> a,
                                std::span<const StepAnnotation> b) {
  std::vector<double> sum;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::vector<double> x = load_of(phase, a[i]), y = load_of(phase, b[i]);
    sum.resize(x.size());
    for (std::size_t k = 0; k < x.size(); ++k)
      sum[k] += std::abs(x[k] - y[k]) / static_cast<double>(a.size());
  }
  return sum;
}

bool is_eligible(ServingPhase phase, const Block& block, std::span<const StepAnnotation> steps) {
  return block.phase == phase && std::ranges::all_of(steps.subspan(block.first, block.steps),
                                                     &StepAnnotation::has_all_tokens);
}

}  // namespace

std::vector<Block> find_blocks(std::span<const StepAnnotation> steps, std::size_t most) {
  std::vector<Block> blocks;
  for (std::size_t first = 0, end = 0; first < steps.size(); first = end) {
    const ServingPhase phase = steps[first].phase;
    for (end = first; end < steps.size() && steps[end].phase == phase;) ++end;
    const std::size_t run = end - first, size = std::min(run, most);
    if (phase == ServingPhase::kNone || (phase == ServingPhase::kDecode && run < 2)) continue;
    for (std::size_t at = first; at + size <= end; at += size)
      blocks.push_back({.phase = phase, .first = at, .steps = size, .run_steps = run});
  }
  return blocks;
}

std::optional<BlockMatch> best_match(ServingPhase phase, std::span<const StepAnnotation> steps_a,
                                     std::span<const Block> a,
                                     std::span<const StepAnnotation> steps_b,
                                     std::span<const Block> b) {
  using Score = std::tuple<std::vector<double>, double, double>;  // smaller is better
  std::optional<Score> best_score;
  BlockMatch best;
  for (const Block& x : a) {
    if (!is_eligible(phase, x, steps_a)) continue;
    for (const Block& y : b) {
      if (y.steps != x.steps || !is_eligible(phase, y, steps_b)) continue;
      Score score{
          distance_of(phase, steps_a.subspan(x.first, x.steps), steps_b.subspan(y.first, y.steps)),
          -static_cast<double>(std::min(x.run_steps, y.run_steps)), -static_cast<double>(x.steps)};
      if (best_score && score >= *best_score) continue;
      best = {static_cast<std::size_t>(&x - a.data()), static_cast<std::size_t>(&y - b.data()),
              std::get<0>(score)};
      best_score = std::move(score);
    }
  }
  if (!best_score) return std::nullopt;
  return best;
}

}  // namespace tracelens
