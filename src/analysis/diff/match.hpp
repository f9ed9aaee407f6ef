// match.hpp: the nodes of two lists, paired by what they are called and by what hangs below.
//   Matcher matcher{side1, side2};
//   std::vector<EditStep> steps = matcher.by_name(list1, list2, Strip::kNo);
// Where a name occurs several times, the nodes whose subtrees look alike go together.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/diff/align.hpp"
#include "analysis/diff/side.hpp"

namespace tracelens {

class Matcher {
 public:
  Matcher(const DiffSide& first, const DiffSide& second) : sides_{&first, &second} {}

  // Aligned by name, equal names by what is below them. Every place of both lists is in exactly one step.
  [[nodiscard]] std::vector<EditStep> by_name(std::span<const NodeId> first,
                                              std::span<const NodeId> second, Strip strip);

  // The second half of by_name(): `steps` with the nodes of ambiguous names paired anew, the most
  // similar first. Unchanged when no pair is better than the one it has.
  [[nodiscard]] std::vector<EditStep> with_equal_names_resolved(std::vector<EditStep> steps,
                                                                std::span<const NodeId> first,
                                                                std::span<const NodeId> second);

 private:
  static constexpr std::size_t kLevels = 4;
  using Level = std::vector<std::uint32_t>;  // names, sorted
  using Levels = std::vector<Level>;

  struct Ambiguous {
    std::vector<std::uint32_t> first, second;  // places, ascending
    bool is_matched = false;
  };
  struct Similarity {
    std::uint32_t equal_levels = 0, shared_names = 0;
    auto operator<=>(const Similarity&) const = default;
  };

  std::uint32_t shape_of(std::size_t side, NodeId node);
  [[nodiscard]] Levels levels_below(const DiffSide& side, NodeId node) const;
  Similarity similarity(std::uint32_t first, std::uint32_t second);
  void pair_alike(const Ambiguous& name, std::span<const NodeId> first,
                  std::span<const NodeId> second, std::span<const std::uint32_t> partner_of_first,
                  std::vector<EditStep>& accepted);

  std::array<const DiffSide*, 2> sides_;
  std::array<std::unordered_map<std::uint32_t, std::uint32_t>, 2> shapes_;  // node -> shape
  std::map<Levels, std::uint32_t> shape_ids_;
  std::vector<const Levels*> shape_levels_;
};

}  // namespace tracelens
