// groups.hpp: the process groups of a run, and which of them every kernel belongs to.
//   const GroupIndex index = find_groups(ranks);
//   index.group_of[rank][kernel.message]
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/ranks/matching.hpp"
#include "analysis/ranks/rank_trace.hpp"

namespace tracelens {

struct GroupIndex {
  bool is_simplified = false;  // no rank names any group, and each uses one stream
  std::vector<ProcessGroup> groups;
  std::vector<std::vector<std::uint32_t>> group_of;  // by rank index, message
};

// Groups of one name but other members are different groups. Members come from the kernels'
// arguments, or from the head of the trace when the profiler cut the list short.
[[nodiscard]] GroupIndex find_groups(std::span<const RankTrace> ranks);

}  // namespace tracelens
