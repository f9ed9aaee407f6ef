// group_parts.hpp: the kernels of ranks dealt out to their groups, and the matched groups put together
// again.
//   const GroupParts parts{ranks, group_of, groups.size(), kinds};
//   MatchCollector all{is_simplified, groups, ranks.size()};
//   for (each group) all.add(group, parts.of(group), match_group(...));
//   const Matching matching = std::move(all).take();
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/ranks/group_match.hpp"
#include "analysis/ranks/matching.hpp"
#include "analysis/ranks/rank_trace.hpp"

namespace tracelens {

class GroupParts {
 public:
  // `group_of` by rank, message. The ranks must outlive this. Their indices in parts are their
  // places here, unless `indices` tells others.
  GroupParts(std::span<const RankTrace> ranks,
             const std::vector<std::vector<std::uint32_t>>& group_of, std::size_t groups,
             MessageKinds& kinds, std::span<const std::uint32_t> indices = {});

  [[nodiscard]] std::uint32_t groups() const { return static_cast<std::uint32_t>(lists_.size()); }
  [[nodiscard]] std::vector<RankPart> of(std::uint32_t group) const;  // by rank

 private:
  struct RankList {
    std::uint32_t rank;
    std::vector<std::uint32_t> kernels;  // by start
  };
  std::span<const RankTrace> ranks_;
  std::span<const std::uint32_t> indices_;
  std::vector<std::vector<RankList>> lists_;         // by group
  std::vector<std::vector<std::uint32_t>> kind_of_;  // by rank, message
};

class MatchCollector {
 public:
  MatchCollector(bool is_simplified, std::vector<ProcessGroup> groups, std::size_t ranks);

  [[nodiscard]] std::span<const std::int64_t> members(std::uint32_t group) const {
    return out_.groups[group].members;
  }
  // Group by group in their order, each once. Of the parts, only whose kernels they are counts. In
  // the end every kernel of every rank must have been in one.
  void add(std::uint32_t group, std::span<const RankPart> parts, GroupMatch match);
  [[nodiscard]] Matching take() &&;

 private:
  struct Place {
    std::uint32_t group = 0, index = 0;
    bool is_apart = false;
  };
  std::vector<std::vector<Place>> places_;  // by rank, kernel
  Matching out_;
};

}  // namespace tracelens
