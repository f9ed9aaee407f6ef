// diff_report_note.hpp: the comparison of two traces as a page for people: what changed, by how
// much, how sure that is, and what to look at next.
#pragma once

#include <span>
#include <string>
#include <tracelens/table.hpp>
#include <vector>

#include "analysis/diff_ops.hpp"
#include "analysis/trace_info.hpp"

namespace tracelens {

struct DiffNote {
  const Trace &trace1, &trace2;
  const Tree &tree1, &tree2;
  std::span<const OpChange> changes = {};
  std::span<const Substitution> exchanges = {};
  std::array<std::size_t, 2> steps = {};
  double matched_share = 0;
};

// Markdown.
[[nodiscard]] std::string diff_note(const DiffNote &note);

}  // namespace tracelens
