// diff_ops.hpp: what each op costs in two traces, aligned by the merged tree, and what took the
// place of what.
//   const std::vector<OpChange> changes = op_changes(input, find_steps(...), find_steps(...));
//   const Table table = ops_diff_table(changes);
// Every linked GPU event counts once, for the lowest op around it that both traces have; without
// one for the op that launched it. Where steps repeat, the spread from step to step tells a change
// from noise.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tracelens/table.hpp>
#include <vector>

#include "analysis/diff_text.hpp"
#include "analysis/trace_info.hpp"

namespace tracelens {

enum class ChangeVerdict : std::uint8_t {
  kUnknown,  // too few steps to tell
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

// Whether two means differ by more than chance: Welch's t-test at 99.9%, and by more than two
// recordings of the same program do anyway.
inline constexpr double kRunToRunPercent = 2;
[[nodiscard]] ChangeVerdict judge(const StepSpread& first, const StepSpread& second);

struct OpChange {
  std::string name = {};  // "a | b" when the traces call it differently
  std::string dims = {}, types = {};
  std::array<std::int64_t, 2> calls = {}, kernels = {}, ns = {};
  std::array<StepSpread, 2> spread = {};
  ChangeVerdict verdict = ChangeVerdict::kUnknown;
  [[nodiscard]] std::int64_t difference_ns() const { return ns[1] - ns[0]; }
};

// The largest change first.
[[nodiscard]] std::vector<OpChange> op_changes(const DiffInput& input, std::span<const Step> steps1,
                                               std::span<const Step> steps2);
[[nodiscard]] Table ops_diff_table(std::span<const OpChange> changes);

// "Below `where`, `gone` became `come`", so many times; the costliest first.
struct Substitution {
  std::string where = {}, gone = {}, come = {};
  std::int64_t count = 0;
  std::array<std::int64_t, 2> ns = {};
  [[nodiscard]] std::int64_t difference_ns() const { return ns[1] - ns[0]; }
};
[[nodiscard]] std::vector<Substitution> substitutions(const DiffInput& input);
[[nodiscard]] Table substitutions_table(std::span<const Substitution> found);

// Share of the GPU time of both traces that has an op in common, 0 to 1; 1 without GPU
// time.
[[nodiscard]] double matched_share(const DiffInput& input);

}  // namespace tracelens
