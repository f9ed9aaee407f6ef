// device_groups.hpp: which ranks take part in a collective of XLA.
//   device_groups("[4,2]<=[2,4]T(1,0)")          // {{0, 4}, {1, 5}, {2, 6}, {3, 7}}
//   resolve_device_groups(ranks, 32);
// HLO lists the groups of all devices; a rank's own is found when the ranks have their numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/ranks/rank_trace.hpp"
#include "trace/hlo.hpp"

namespace tracelens {

using DeviceGroups = std::vector<std::vector<std::int64_t>>;

// "{{0,1},{2,3}}", or "[2,2]<=[4]" with or without T(1,0). None: the text is neither, or speaks of
// more devices than there are.
[[nodiscard]] DeviceGroups device_groups(std::string_view text);

// "{{0,1},{1,0},{2,2}}": devices that send to each other, directly or through others.
[[nodiscard]] DeviceGroups rings_of_pairs(std::string_view text);

// The groups of an instruction as the text that resolve_device_groups() understands.
[[nodiscard]] std::string device_groups_text(const hlo::Instruction& collective);

// In all messages with such a text: the group of the rank itself, its size, its name by its members
// ("ranks 0-7", "ranks 0-24 by 8"), and what a rank receives. A text without groups means all
// ranks, of which there are `world_size` or as many as are given.
void resolve_device_groups(std::span<RankTrace> ranks,
                           std::optional<std::int64_t> world_size = std::nullopt);
// The same for some of the ranks, of which there are `all`.
void resolve_device_groups(std::span<RankTrace> ranks, std::vector<std::int64_t> all,
                           std::optional<std::int64_t> world_size);

}  // namespace tracelens
