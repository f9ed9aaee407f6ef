#include "analysis/diff/merge.hpp"

#include <algorithm>
#include <tracelens/error.hpp>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analysis/diff/children.hpp"

namespace tracelens {

class TreeMerger {
 public:
  TreeMerger(const Trace& trace1, const Tree& tree1, const Trace& trace2, const Tree& tree2,
             Edition edition)
      : first_{trace1, tree1, names_},
        second_{trace2, tree2, names_},
        pairing_{first_, second_, edition},
        edition_{edition} {}

  MergedTree merge() {
    merged_.merged_[0].assign(first_.tree().size(), MergedTree::kNone);
    merged_.merged_[1].assign(second_.tree().size(), MergedTree::kNone);
    for (const DiffSide* side : {&first_, &second_})
      if (side->tree().op_roots().empty())
        throw Error{side->trace().source().name,
                    "has no ops: Both trees must have at least one root node in cpu_root_nodes."};
    const std::vector<NodeId> roots1 = roots_of(first_), roots2 = roots_of(second_);
    if (edition_ == Edition::kReference) {
      for (std::size_t i = 0; i < std::max(roots1.size(), roots2.size()); ++i)
        merge_root(
            {i < roots1.size() ? roots1[i] : NodeId{}, i < roots2.size() ? roots2[i] : NodeId{}});
    } else {
      for (auto& [list1, list2] : thread_pairs(roots1, roots2))
        for (const NodePair& pair : pairing_.pairs_of(std::move(list1), std::move(list2)))
          merge_root(pair);
    }
    return std::move(merged_);
  }

 private:
  struct Frame {
    std::uint32_t id;
    std::vector<NodePair> pairs;
    std::size_t next = 0;
    std::vector<std::uint32_t> children = {};
  };

  // The tops of the trees that hold the ops. A chain of wrappers at a top is cut out; as in the
  // Python TraceLens such a top then counts twice in reference mode when it holds several ops: by
  // the inner end of the chain, and by itself with the same children.
  std::vector<NodeId> roots_of(DiffSide& side) const {
    const Tree& tree = side.tree();
    std::vector<NodeId> top(tree.size());
    for (std::uint32_t node = 0; node < tree.size(); ++node)
      top[node] = tree.parents()[node].valid() ? top[tree.parents()[node].row] : NodeId{node};

    std::vector<NodeId> roots;
    std::unordered_set<std::uint32_t> seen, trimmed;
    for (const EventId op : tree.op_roots()) {
      const NodeId outer = top[tree.node(op).row];
      NodeId root = outer;
      if (trimmed.insert(outer.row).second) {
        NodeId inner = outer;
        for (std::vector<NodeId> children = side.children(inner); children.size() == 1;
             children = side.children(inner)) {
          const NodeId only = children.front();
          if (side.category(only) == Category::kCpuOp || side.is_dispatch(only)) break;
          inner = only;
        }
        if (inner != outer) side.trim_to(outer, inner);
        if (edition_ == Edition::kReference) root = inner;
      }
      if (edition_ == Edition::kExtended && !side.is_gpu_path(root)) continue;
      if (seen.insert(root.row).second) roots.push_back(root);
    }
    return roots;
  }

  using RootLists = std::vector<std::pair<std::vector<NodeId>, std::vector<NodeId>>>;

  // Threads have other numbers in every run: those whose roots have the most names in common go
  // together, the rest in order.
  RootLists thread_pairs(const std::vector<NodeId>& roots1,
                         const std::vector<NodeId>& roots2) const {
    const auto by_thread = [](const DiffSide& side, const std::vector<NodeId>& roots) {
      std::vector<std::vector<NodeId>> threads;
      std::unordered_map<std::uint32_t, std::size_t> index;
      for (const NodeId root : roots) {
        const TrackId track = side.trace().tracks()[side.tree().event(root).row];
        const auto [found, is_new] = index.try_emplace(track.row, threads.size());
        if (is_new) threads.emplace_back();
        threads[found->second].push_back(root);
      }
      return threads;
    };
    std::vector<std::vector<NodeId>> threads1 = by_thread(first_, roots1),
                                     threads2 = by_thread(second_, roots2);
    struct Match {
      std::size_t common, first, second;
    };
    std::vector<Match> matches;
    constexpr std::size_t kMaxThreads = 64;  // of which every pair is compared
    for (std::size_t i = 0; i < std::min(threads1.size(), kMaxThreads); ++i)
      for (std::size_t j = 0; j < std::min(threads2.size(), kMaxThreads); ++j)
        matches.push_back({common_names(threads1[i], threads2[j]), i, j});
    std::ranges::stable_sort(matches, std::greater<>{}, &Match::common);

    RootLists result;
    std::vector<bool> taken1(threads1.size()), taken2(threads2.size());
    for (const Match& match : matches) {
      if (match.common == 0 || taken1[match.first] || taken2[match.second]) continue;
      taken1[match.first] = taken2[match.second] = true;
      result.emplace_back(std::move(threads1[match.first]), std::move(threads2[match.second]));
    }
    std::size_t j = 0;
    for (std::size_t i = 0; i < threads1.size(); ++i) {
      if (taken1[i]) continue;
      while (j < threads2.size() && taken2[j]) ++j;
      result.emplace_back(std::move(threads1[i]),
                          j < threads2.size() ? std::move(threads2[j]) : std::vector<NodeId>{});
      if (j < threads2.size()) taken2[j] = true;
    }
    for (std::size_t rest = 0; rest < threads2.size(); ++rest)
      if (!taken2[rest]) result.emplace_back(std::vector<NodeId>{}, std::move(threads2[rest]));
    return result;
  }

  [[nodiscard]] std::size_t common_names(const std::vector<NodeId>& roots1,
                                         const std::vector<NodeId>& roots2) const {
    std::unordered_map<std::uint32_t, std::size_t> counts;
    for (const NodeId root : roots1) ++counts[first_.name(root)];
    std::size_t common = 0;
    for (const NodeId root : roots2)
      if (const auto found = counts.find(second_.name(root));
          found != counts.end() && found->second > 0) {
        --found->second;
        ++common;
      }
    return common;
  }

  void merge_root(const NodePair& root) {
    std::vector<Frame> open;
    merged_.roots_.push_back(enter(root, MergedTree::kNone, open));
    while (!open.empty()) {
      Frame& frame = open.back();
      if (frame.next == frame.pairs.size()) {
        merged_.begins_[frame.id] = static_cast<std::uint32_t>(merged_.children_.size());
        merged_.children_.insert(merged_.children_.end(), frame.children.begin(),
                                 frame.children.end());
        merged_.ends_[frame.id] = static_cast<std::uint32_t>(merged_.children_.size());
        open.pop_back();
        continue;
      }
      const NodePair pair = frame.pairs[frame.next++];
      const std::size_t parent = open.size() - 1;
      const std::uint32_t id = enter(pair, frame.id, open);  // `frame` may have moved
      open[parent].children.push_back(id);
    }
  }

  // The merged node of a pair; a new one is opened for its children.
  std::uint32_t enter(const NodePair& pair, std::uint32_t parent, std::vector<Frame>& open) {
    const std::uint64_t key = std::uint64_t{pair.first.row} << 32 | pair.second.row;
    const auto id = static_cast<std::uint32_t>(merged_.nodes_.size());
    const auto [known, is_new] = ids_.try_emplace(key, id);
    if (!is_new) return known->second;
    NodeId first = pair.first, second = pair.second;
    merged_.begins_.push_back(0);
    merged_.ends_.push_back(0);
    merged_.nodes_.emplace_back();
    std::vector<NodePair> pairs = pairing_.pairs_below(first, second);
    merged_.nodes_[id] = {first, second, parent, pair.gap, pair.first, pair.second};
    for (const NodeId node : {pair.first, first})
      if (node.valid()) merged_.merged_[0][node.row] = id;
    for (const NodeId node : {pair.second, second})
      if (node.valid()) merged_.merged_[1][node.row] = id;
    open.push_back({id, std::move(pairs)});
    return id;
  }

  DiffNames names_;
  DiffSide first_, second_;
  ChildPairing pairing_;
  Edition edition_;
  MergedTree merged_;
  std::unordered_map<std::uint64_t, std::uint32_t> ids_;
};

std::optional<NodeId> MergedTree::counterpart(std::size_t side, NodeId node) const {
  const std::uint32_t id = merged(side, node);
  if (id == kNone) return std::nullopt;
  return side == 0 ? nodes_[id].second : nodes_[id].first;
}

MergedTree merge_trees(const Trace& trace1, const Tree& tree1, const Trace& trace2,
                       const Tree& tree2, Edition edition) {
  return TreeMerger{trace1, tree1, trace2, tree2, edition}.merge();
}

}  // namespace tracelens
