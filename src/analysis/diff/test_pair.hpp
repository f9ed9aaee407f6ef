// test_pair.hpp: two small traces and all that is made of them, for the tests of the diff.
//   DiffPair pair{first.finish(), second.finish(), Edition::kReference};
//   merged_tree_text(pair.input())
#pragma once

#include <utility>

#include "analysis/diff/text.hpp"
#include "tree/test_trace.hpp"

namespace tracelens {

class DiffPair {
 public:
  DiffPair(Trace first, Trace second, Edition edition, bool python_frames = false)
      : first_{std::move(first)},
        second_{std::move(second)},
        tree1_{build_tree(first_, {.python_frames = python_frames})},
        tree2_{build_tree(second_, {.python_frames = python_frames})},
        merged_{merge_trees(first_, tree1_, second_, tree2_, edition)} {}
  DiffPair(const DiffPair&) = delete;
  DiffPair& operator=(const DiffPair&) = delete;

  [[nodiscard]] DiffInput input() const { return {first_, tree1_, second_, tree2_, merged_}; }
  [[nodiscard]] const MergedTree& merged() const { return merged_; }

 private:
  Trace first_, second_;
  Tree tree1_, tree2_;
  MergedTree merged_;
};

}  // namespace tracelens
