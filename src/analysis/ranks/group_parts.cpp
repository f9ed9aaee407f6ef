#include "analysis/ranks/group_parts.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace tracelens {

GroupParts::GroupParts(std::span<const RankTrace> ranks,
                       const std::vector<std::vector<std::uint32_t>>& group_of, std::size_t groups,
                       MessageKinds& kinds, std::span<const std::uint32_t> indices)
    : ranks_{ranks}, indices_{indices}, lists_(groups), kind_of_(ranks.size()) {
  for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
    for (const CollectiveMessage& message : ranks[rank].messages)
      kind_of_[rank].push_back(kinds.number_of(message_kind(message)));
    const auto& kernels = ranks[rank].kernels;
    std::vector<std::uint32_t> by_start(kernels.size());
    for (std::uint32_t i = 0; i < by_start.size(); ++i) by_start[i] = i;
    std::ranges::stable_sort(by_start, {}, [&](std::uint32_t i) { return kernels[i].ts_ns; });
    for (const std::uint32_t kernel : by_start) {
      auto& group = lists_[group_of[rank][kernels[kernel].message]];
      if (group.empty() || group.back().rank != rank) group.push_back({rank, {}});
      group.back().kernels.push_back(kernel);
    }
  }
}

std::vector<RankPart> GroupParts::of(std::uint32_t group) const {
  std::vector<RankPart> parts;
  for (const RankList& list : lists_[group]) {
    const RankTrace& rank = ranks_[list.rank];
    RankPart& part = parts.emplace_back(
        RankPart{.rank = indices_.empty() ? list.rank : indices_[list.rank], .number = rank.rank});
    for (const std::uint32_t i : list.kernels) {
      const CollectiveKernel& kernel = rank.kernels[i];
      part.kernels.push_back({.ts_ns = kernel.ts_ns,
                              .dur_ns = kernel.dur_ns,
                              .sequence = kernel.sequence,
                              .peer = kernel.peer,
                              .kernel = i,
                              .kind = kind_of_[list.rank][kernel.message]});
    }
  }
  return parts;
}

MatchCollector::MatchCollector(bool is_simplified, std::vector<ProcessGroup> groups,
                               std::size_t ranks)
    : places_(ranks) {
  out_.is_simplified = is_simplified;
  out_.groups = std::move(groups);
}

void MatchCollector::add(std::uint32_t group, std::span<const RankPart> parts, GroupMatch match) {
  out_.groups[group].matched_by = match.matched_by;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::vector<Place>& of_rank = places_[parts[i].rank];
    for (std::size_t k = 0; k < parts[i].kernels.size(); ++k) {
      const std::uint32_t kernel = parts[i].kernels[k].kernel;
      if (of_rank.size() <= kernel) of_rank.resize(std::size_t{kernel} + 1);
      const GroupMatch::Place& place = match.places[i][k];
      of_rank[kernel] = {group, place.index, place.is_apart};
    }
  }
  for (Transfer& transfer : match.transfers) {
    transfer.group = group;
    out_.transfers.push_back(transfer);
  }
}

Matching MatchCollector::take() && {
  constexpr std::uint32_t kUnplaced = 0xffffffff;
  // By group and place: the number of the collective. Places of a group are dense.
  std::vector<std::array<std::vector<std::uint32_t>, 2>> numbers(out_.groups.size());
  out_.collective_of.resize(places_.size());
  for (std::size_t rank = 0; rank < places_.size(); ++rank) {
    for (const Place& place : places_[rank]) {
      auto& of_group = numbers[place.group][place.is_apart ? 1 : 0];
      if (of_group.size() <= place.index) of_group.resize(place.index + 1, kUnplaced);
      std::uint32_t& number = of_group[place.index];
      if (number == kUnplaced) {
        number = static_cast<std::uint32_t>(out_.collectives.size());
        out_.collectives.push_back(
            {.group = place.group, .index = place.index, .is_apart = place.is_apart});
      }
      out_.collective_of[rank].push_back(number);
      ++out_.collectives[number].member_count;
    }
    std::vector<Place>{}.swap(places_[rank]);
  }
  std::uint32_t first = 0;
  for (Collective& collective : out_.collectives) {
    collective.first_member = first;
    first += collective.member_count;
    collective.member_count = 0;
  }
  out_.all_members.resize(first);
  for (std::uint32_t rank = 0; rank < out_.collective_of.size(); ++rank)
    for (std::uint32_t kernel = 0; kernel < out_.collective_of[rank].size(); ++kernel) {
      Collective& collective = out_.collectives[out_.collective_of[rank][kernel]];
      out_.all_members[collective.first_member + collective.member_count++] = {rank, kernel};
    }
  return std::move(out_);
}

}  // namespace tracelens
