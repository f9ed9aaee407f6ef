// ops.hpp: what each op costs in two traces, aligned by the merged tree, and what took the
// place of what.
//   const std::vector<OpChange> changes = op_changes(input, facts1.steps(), facts2.steps());
//   const Table table = ops_diff_table(changes);
// Every linked GPU event counts once, for the lowest op around it that both traces have; without
// one for the op that launched it. Work of an HLO op counts for that op in any case. Where steps
// repeat, the spread from step to step tells a change from noise.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tracelens/table.hpp>
#include <vector>

#include "analysis/diff/text.hpp"
#include "analysis/kit/noise.hpp"
#include "facts/steps.hpp"

namespace tracelens {

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
  std::string where = {}, removed = {}, added = {};
  std::int64_t count = 0;
  std::array<std::int64_t, 2> ns = {};
  [[nodiscard]] std::int64_t difference_ns() const { return ns[1] - ns[0]; }
};
// A subtree of one trace that a substitution of ops by ops is about.
struct ExchangedSubtree {
  std::size_t substitution = 0;  // which of those returned
  std::size_t side = 0;
  NodeId node;
};
[[nodiscard]] std::vector<Substitution> substitutions(
    const DiffInput& input, std::vector<ExchangedSubtree>* exchanged = nullptr);
[[nodiscard]] Table substitutions_table(std::span<const Substitution> found);

// What explains the difference between two traces: every linked GPU event counts once, for the
// substitution of ops it belongs to, else for the op that launched it. What only went or only came
// is no substitution, nor is one that is mostly about ops of which the traces have equally much.
struct ChangePart {
  std::string name = {};  // of an op; empty: a substitution
  std::string removed = {}, added = {};
  std::int64_t count = 0;  // substitutions: how often
  std::array<std::int64_t, 2> ns = {}, kernels = {};
};
// Substitutions first; otherwise in no particular order.
[[nodiscard]] std::vector<ChangePart> change_parts(const DiffInput& input);

// Share of the GPU time of both traces that belongs to rows with work on both sides, 0 to 1: how
// much of them has a counterpart. 1 without GPU time.
[[nodiscard]] double common_share(std::span<const OpChange> changes);

}  // namespace tracelens
