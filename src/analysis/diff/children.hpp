// children.hpp: which children of two matched nodes belong together. One step of the merge.
//   ChildPairing pairing{side1, side2, Edition::kReference};
//   NodeId first = a, second = b;                       // either may be invalid
//   const auto pairs = pairing.pairs_below(first, second);   // may move first or second down
// In order: wrappers with a single child are looked through where the counts differ; the lists are
// aligned; wrappers among what is left are replaced by their children; what is still left is
// compared by the first branching node below it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/diff/match.hpp"
#include "analysis/diff/merge.hpp"
#include "analysis/diff/side.hpp"

namespace tracelens {

struct NodePair {
  NodeId first, second;  // invalid: one-sided
  std::uint32_t gap = 0;
};

class ChildPairing {
 public:
  ChildPairing(DiffSide& first, DiffSide& second, Edition edition)
      : first_{first}, second_{second}, matcher_{first, second}, edition_{edition} {}

  [[nodiscard]] std::vector<NodePair> pairs_below(NodeId& first, NodeId& second);

  // The same for lists that are not the children of anything: the roots of two threads.
  [[nodiscard]] std::vector<NodePair> pairs_of(std::vector<NodeId> first,
                                               std::vector<NodeId> second);

 private:
  struct Lists {
    std::vector<NodeId> first, second;
  };
  [[nodiscard]] Lists children_of(NodeId first, NodeId second) const;
  [[nodiscard]] std::vector<EditStep> aligned(std::span<const NodeId> first,
                                              std::span<const NodeId> second);
  void replace_wrappers(Lists& lists, std::vector<EditStep>& steps);
  void compare_below(Lists& lists, std::vector<EditStep>& steps);
  void pair_substitutes(const Lists& lists, std::vector<EditStep>& steps,
                        std::vector<std::uint32_t>& gaps) const;

  DiffSide &first_, &second_;
  Matcher matcher_;
  Edition edition_;
};

}  // namespace tracelens
