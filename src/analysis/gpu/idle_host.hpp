// idle_host.hpp: what the host was doing in each gap of the GPU's work.
//   for (const IdleCharge& charge : charge_gaps(facts, gaps)) total += charge.ns;
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <vector>

#include "analysis/gpu/idle_gaps.hpp"
#include "analysis/gpu/idle_state.hpp"
#include "facts/trace_facts.hpp"

namespace tracelens {

// The idle time of one line of gpu_idle_host.
struct IdleCharge {
  HostState state;
  StringId name;  // invalid: no name
  std::int64_t ns = 0, longest_ns = 0;
  std::int64_t gaps = 0;
  std::size_t last_gap = std::numeric_limits<std::size_t>::max();
  std::int64_t ns_of_last_gap = 0;
};

// What most of a gap is charged to.
struct GapHost {
  HostState state;
  StringId name;  // invalid: no name
  std::int64_t ns = 0;
};

// Every instant of the gaps, which stand in order of time, is charged once. In order of appearance.
// `of_gaps`: one for each gap, if that is wanted.
[[nodiscard]] std::vector<IdleCharge> charge_gaps(const TraceFacts& facts,
                                                  std::span<const IdleGap> gaps,
                                                  std::vector<GapHost>* of_gaps = nullptr);

// "<built-in method mul_ of Tensor object at 0x7f4ddba08410>": the address tells nothing.
[[nodiscard]] std::string without_address(std::string_view name);

}  // namespace tracelens
