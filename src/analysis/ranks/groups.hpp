// groups.hpp: the process groups of a run, and which of them every kernel belongs to.
//   const GroupIndex index = find_groups(ranks);
//   index.group_of[rank][kernel.message]
// Processes that share the ranks of a run find the names in their own ones, and number the groups
// together:
//   GroupNames names = find_group_names(own_ranks, all_agree(names_no_groups(own_ranks)));
//   const NumberedGroups all = number_groups(merge(names of all processes));
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
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

// --- in steps ---

// A group as kernels tell of it.
struct GroupName {
  std::string name;
  std::vector<std::int64_t> members;  // empty: not told
  bool operator==(const GroupName&) const = default;
};
[[nodiscard]] std::uint64_t hash_of_group(std::string_view name,
                                          std::span<const std::int64_t> members);

struct GroupNames {
  std::vector<GroupName> names;  // each once, by their first messages
  struct First {
    std::uint32_t rank = 0, message = 0;  // an index of the ranks given
  };
  std::vector<First> firsts;                        // by name
  std::vector<std::vector<std::uint32_t>> name_of;  // by rank index, message
};

// Whether none of these ranks names a group, and each uses one stream: when that is so for all
// ranks of a run, it is simplified.
[[nodiscard]] bool names_no_groups(std::span<const RankTrace> ranks);
[[nodiscard]] GroupNames find_group_names(std::span<const RankTrace> ranks, bool is_simplified);

struct NumberedGroups {
  std::vector<ProcessGroup> groups;
  std::vector<std::uint32_t> group_of;  // by name
};
// `names` of all ranks, in the order of their first messages. A kernel that names its group but not
// the members belongs to the only group of that name.
[[nodiscard]] NumberedGroups number_groups(std::vector<GroupName> names);

}  // namespace tracelens
