// diff_note.hpp: the comparison of two traces as a page for people: what changed, by how
// much, how sure that is, and what to look at next.
//   const std::string markdown = diff_note({.runs = runs, .timeline = timeline, .changes = ...});
#pragma once

#include <array>
#include <span>
#include <string>

#include "analysis/diff/levels.hpp"
#include "analysis/diff/ops.hpp"
#include "report/recipes/diff_markdown.hpp"

namespace tracelens {

// Two traces whose call trees were aligned.
struct DiffNote {
  const ComparedRuns& runs;
  const TimedSheet& timeline;  // gpu_timeline of the two reports
  std::span<const OpChange> changes = {};
  std::span<const Substitution> exchanges = {};
  std::array<std::size_t, 2> steps = {};
  bool has_little_in_common = false;  // then also the level that was used instead of ops
  const LevelDiff& level;
};

// Markdown.
[[nodiscard]] std::string diff_note(const DiffNote& note);

// Two traces without ops: by kernel and category. `reports` are theirs.
[[nodiscard]] std::string kernel_diff_note(const ComparedRuns& runs,
                                           std::span<const ComparedReport> reports);

}  // namespace tracelens
