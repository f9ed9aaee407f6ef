// graph_launches.hpp: what is known of the kernels inside graph launches: which were attributed to
// captured ops, and of what kind the others are.
//   const Table table = graph_stitching(facts, stitching);
//   for (const std::string& sentence : stitching_warnings(trace, stitching)) warn(sentence);
#pragma once

#include <optional>
#include <tracelens/graph_stitching.hpp>
#include <tracelens/table.hpp>

#include "facts/kernel_rules.hpp"
#include "facts/trace_facts.hpp"

namespace tracelens {

// One row per graph launch, by time. None when there is no launch.
[[nodiscard]] std::optional<Table> graph_stitching(const TraceFacts& facts,
                                                   const GraphStitching& stitching);

// Of launches whose kernels belong to no op: kinds of work by kernel names, one group of rows per
// graph. Launches of the same kernels are of one graph. None when every kernel has its op.
[[nodiscard]] std::optional<Table> graph_kernels(const TraceFacts& facts,
                                                 const GraphStitching& stitching,
                                                 const KernelRules& rules);

}  // namespace tracelens
