// context.hpp: what becomes slower when the context grows.
//   context_growth(run, ops);  attention_by_context(run, ops);
// Only of steps whose annotation says how long the contexts are.
#pragma once

#include <optional>
#include <span>
#include <tracelens/table.hpp>

#include "analysis/serving/run.hpp"
#include "analysis/serving/served_ops.hpp"

namespace tracelens {

// The straight line through points that comes nearest to them.
struct LineFit {
  double slope = 0, intercept = 0;
  std::optional<double> r2 = {};  // share of the spread it explains; none: there is no spread
};
struct Point {
  double x = 0, y = 0;
};
[[nodiscard]] std::optional<LineFit> fit_line(std::span<const Point> points);  // none: one x only

// One row per phase and op that runs in its steps: by how much its GPU time per step grows with each
// token of context. At least three steps, of different contexts. The steepest growth first.
[[nodiscard]] Table context_growth(const ServingRun& run, const ServedOps& ops);

// GPU time of attention by phase and context length per request, in powers of two.
[[nodiscard]] Table attention_by_context(const ServingRun& run, const ServedOps& ops);

}  // namespace tracelens
