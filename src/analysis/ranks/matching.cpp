#include "analysis/ranks/matching.hpp"

#include <algorithm>
#include <utility>

#include "analysis/ranks/group_match.hpp"
#include "analysis/ranks/group_parts.hpp"
#include "analysis/ranks/groups.hpp"

namespace tracelens {

std::string Matching::id(const Collective& collective) const {
  const std::string index = (collective.is_apart ? "p2p" : "") + std::to_string(collective.index);
  return is_simplified ? index : groups[collective.group].id + "_" + index;
}

Matching match_collectives(std::span<const RankTrace> ranks) {
  GroupIndex index = find_groups(ranks);
  MessageKinds kinds;
  const GroupParts parts{ranks, index.group_of, index.groups.size(), kinds};
  MatchCollector collector{index.is_simplified, std::move(index.groups), ranks.size()};
  for (std::uint32_t group = 0; group < parts.groups(); ++group) {
    const std::vector<RankPart> of_group = parts.of(group);
    collector.add(group, of_group, match_group(collector.members(group), kinds.all(), of_group));
  }
  return std::move(collector).take();
}

}  // namespace tracelens
