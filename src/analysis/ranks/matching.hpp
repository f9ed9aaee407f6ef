// matching.hpp: which kernels of different ranks are one and the same collective.
//   const Matching matching = match_collectives(ranks);
//   for (const Collective& collective : matching.collectives) matching.members(collective) ...
// A process group is known by its name and its members; inside a group, collectives are matched by
// the sequence numbers the profiler wrote, else by their order and messages, so that an event that
// one rank lost does not shift all that follow. Sends and receives are counted by themselves when
// they share a group with collectives.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/ranks/rank_trace.hpp"

namespace tracelens {

// How kernels of different ranks were recognised as one collective.
enum class MatchedBy : std::uint8_t {
  kOrder,     // the ranks' lists agree position by position
  kSequence,  // the lists differ; the numbers the profiler wrote tell what belongs together
  kMessages,  // the lists differ and have no numbers; aligned by messages and times
};

struct ProcessGroup {
  std::string name;                   // as traced
  std::string id;                     // `name`, or "name@first rank" when groups share their name
  std::vector<std::int64_t> members;  // empty: the traces do not tell
  MatchedBy matched_by = MatchedBy::kOrder;
};

struct CollectiveMember {
  std::uint32_t rank = 0;    // index into the ranks given
  std::uint32_t kernel = 0;  // index into RankTrace::kernels
};

struct Collective {
  std::uint32_t group = 0;  // Matching::groups
  std::uint32_t index = 0;  // position in the group
  bool is_apart = false;    // a send or receive that is not counted among the group's collectives
  std::uint32_t first_member = 0, member_count = 0;
};

// A send and its receive; one of them is absent when the other rank's trace lacks it.
struct Transfer {
  std::uint32_t group = 0;
  std::optional<CollectiveMember> send = {}, receive = {};
  std::int64_t from = kAbsent, to = kAbsent;  // ranks; kAbsent: unknown
};

struct Matching {
  bool is_simplified = false;  // no rank names any group: one list per rank
  std::vector<ProcessGroup> groups;
  std::vector<Collective> collectives;  // in order of their first kernels, rank by rank
  std::vector<CollectiveMember> all_members;
  std::vector<std::vector<std::uint32_t>> collective_of;  // by rank index, kernel
  std::vector<Transfer> transfers;                        // by group, then by pair and order

  [[nodiscard]] std::span<const CollectiveMember> members(const Collective& collective) const {
    return std::span{all_members}.subspan(collective.first_member, collective.member_count);
  }
  [[nodiscard]] std::string id(const Collective& collective) const;
};

// `ranks` ascending by rank. Members of a collective stand in that order.
[[nodiscard]] Matching match_collectives(std::span<const RankTrace> ranks);

}  // namespace tracelens
