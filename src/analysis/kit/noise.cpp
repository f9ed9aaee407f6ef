#include "analysis/kit/noise.hpp"

#include <algorithm>
#include <cmath>

namespace tracelens {
namespace {

// The 99.9% two-sided point of Student's t with `freedom` degrees, by the first terms of its
// expansion around the normal point; from three degrees on off by less than a tenth.
double student_point(double freedom) {
  const double z = 3.2905;
  const double z3 = z * z * z, z5 = z3 * z * z;
  return z + (z3 + z) / (4 * freedom) + (5 * z5 + 16 * z3 + 3 * z) / (96 * freedom * freedom) +
         (3 * z5 * z * z + 19 * z5 + 17 * z3 - 15 * z) / (384 * freedom * freedom * freedom);
}

}  // namespace

std::string_view verdict_word(ChangeVerdict verdict) {
  switch (verdict) {
    case ChangeVerdict::kUnknown:
      return "unknown";
    case ChangeVerdict::kSame:
      return "same";
    case ChangeVerdict::kNoise:
      return "noise";
    case ChangeVerdict::kSlower:
      return "slower";
    case ChangeVerdict::kFaster:
      return "faster";
    case ChangeVerdict::kGone:
      return "gone";
    case ChangeVerdict::kNew:
      return "new";
  }
  return "";
}

StepSpread spread_of(std::span<const std::int64_t> per_step) {
  StepSpread spread{.steps = per_step.size()};
  if (per_step.empty()) return spread;
  const auto count = static_cast<double>(per_step.size());
  for (const std::int64_t ns : per_step) spread.mean += static_cast<double>(ns) / count;
  double squares = 0;
  for (const std::int64_t ns : per_step)
    squares += std::pow(static_cast<double>(ns) - spread.mean, 2);
  if (per_step.size() > 1) spread.deviation = std::sqrt(squares / (count - 1));
  return spread;
}

ChangeVerdict judge(const StepSpread& first, const StepSpread& second) {
  if (first.steps < 2 || second.steps < 2) return ChangeVerdict::kUnknown;
  const double difference = second.mean - first.mean;
  const double run_to_run = std::max(first.mean, second.mean) * kRunToRunPercent / 100;
  const double a = first.deviation * first.deviation / static_cast<double>(first.steps);
  const double b = second.deviation * second.deviation / static_cast<double>(second.steps);
  const double error = std::sqrt(a + b);
  bool is_change = std::abs(difference) > run_to_run;
  if (is_change && error > 0) {
    const double freedom = (a + b) * (a + b) /
                           (a * a / static_cast<double>(first.steps - 1) +
                            b * b / static_cast<double>(second.steps - 1));
    is_change = std::abs(difference) / error > student_point(freedom);
  }
  if (!is_change) return ChangeVerdict::kNoise;
  return difference > 0 ? ChangeVerdict::kSlower : ChangeVerdict::kFaster;
}

bool is_notable(double before, double after, double all) {
  const double change = std::abs(after - before);
  return change > std::max(before, after) * kRunToRunPercent / 100 &&
         change >= all * kWorthMentioningPercent / 100;
}

}  // namespace tracelens
