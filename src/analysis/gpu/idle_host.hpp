// idle_host.hpp: what the host was doing in each gap of the GPU's work.
//   for (const IdleCharge& charge : charge_gaps(facts, gaps)) total += charge.ns;
#pragma once

#include <span>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <vector>

#include "analysis/gpu/idle_gaps.hpp"
#include "analysis/gpu/idle_ledger.hpp"
#include "facts/trace_facts.hpp"

namespace tracelens {

// Every instant of the gaps, which stand in order of time, is charged once. In order of appearance.
// `of_gaps`: one for each gap, if that is wanted.
[[nodiscard]] std::vector<IdleCharge> charge_gaps(const TraceFacts& facts,
                                                  std::span<const IdleGap> gaps,
                                                  std::vector<GapHost>* of_gaps = nullptr);

}  // namespace tracelens
