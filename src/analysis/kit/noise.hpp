// noise.hpp: what is a change between two runs, and what is noise.
//   judge(spread_of(steps_before), spread_of(steps_after))      // with steps: a significance test
//   is_notable(2.0, 2.5, all_ms)                                // without: by size alone
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tracelens {

enum class ChangeVerdict : std::uint8_t {
  kUnknown,  // too few steps to tell
  kSame,     // not a nanosecond of difference
  kNoise,    // within the spread of the steps, or of what two recordings always differ by
  kSlower,
  kFaster,
  kGone,  // only in the first trace
  kNew,   // only in the second
};
[[nodiscard]] std::string_view verdict_word(ChangeVerdict verdict);

// Mean and spread of the time per step, in ns.
struct StepSpread {
  std::size_t steps = 0;
  double mean = 0, deviation = 0;  // deviation: of the sample
};
[[nodiscard]] StepSpread spread_of(std::span<const std::int64_t> per_step);

// By how much two recordings of the same program differ anyway, in percent of the longer time.
inline constexpr double kRunToRunPercent = 2;
// A change of less than this share of all GPU time is not worth a sentence, in percent.
inline constexpr double kWorthMentioningPercent = 0.1;

// Whether two means differ by more than chance: Welch's t-test at 99.9%, and by more than
// kRunToRunPercent.
[[nodiscard]] ChangeVerdict judge(const StepSpread& first, const StepSpread& second);

// Whether a change stands out by its size alone: more than kRunToRunPercent of the longer of the
// two times, and at least kWorthMentioningPercent of `all`. Any one unit of time.
[[nodiscard]] bool is_notable(double before, double after, double all);

}  // namespace tracelens
