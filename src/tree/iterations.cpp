#include "tree/iterations.hpp"

#include <algorithm>
#include <iterator>
#include <tracelens/tree.hpp>
#include <utility>
#include <vector>

#include "tree/time_math.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kMinRepeats = 3;

// matches[i]: how many names from i on equal the names from 0 on (the Z-function).
void prefix_matches(std::span<const StringId> names, std::vector<std::size_t>& matches) {
  matches.assign(names.size(), 0);
  std::size_t left = 0, right = 0;  // the rightmost stretch [left, right) known to equal a prefix
  for (std::size_t i = 1; i < names.size(); ++i) {
    std::size_t& match = matches[i];
    if (i < right) match = std::min(right - i, matches[i - left]);
    while (i + match < names.size() && names[match] == names[i + match]) ++match;
    if (i + match > right) {
      left = i;
      right = i + match;
    }
  }
}

std::vector<NodeId> children_of(const Tree& tree, NodeId node) {
  std::vector<NodeId> children;
  for (NodeId child{node.row + 1}; child < tree.end(node); child = tree.end(child))
    children.push_back(child);
  return children;
}

// The blocks of a loop as events: each from the start of its first child to the end of its last.
std::vector<IterationRoot> blocks_of(const Trace& trace, const Tree& tree,
                                     std::span<const NodeId> children, const Repeats& repeats) {
  std::vector<IterationRoot> blocks;
  for (std::size_t i = 0; i < repeats.count; ++i) {
    const std::size_t at = repeats.start + i * repeats.period;
    const EventId first = tree.event(children[at]);
    const EventId last = tree.event(children[at + repeats.period - 1]);
    const std::int64_t start = trace.ts_ns()[first.row];
    blocks.push_back({first, start, minus_ns(end_of(trace, last), start)});
  }
  return blocks;
}

// The GPU work of a trace by the times at which it was launched.
class LaunchedWork {
 public:
  LaunchedWork(const Trace& trace, const Tree& tree) {
    std::vector<std::pair<std::int64_t, std::int64_t>> work;  // launch, duration
    work.reserve(tree.linked_gpu_events().size());
    for (const EventId event : tree.linked_gpu_events())
      work.emplace_back(trace.ts_ns()[tree.launch_of(event).row], duration_of(trace, event));
    std::ranges::sort(work);
    for (const auto& [ts_ns, dur_ns] : work) {
      starts_.push_back(ts_ns);
      sums_ns_.push_back(plus_ns(sums_ns_.back(), dur_ns));
    }
  }
  // Whether at least half of it is launched in the blocks, by number and by GPU time; on any thread,
  // since autograd launches the backward pass from its own.
  [[nodiscard]] bool is_mostly_in(std::span<const IterationRoot> blocks) const {
    std::size_t events = 0;
    std::int64_t ns = 0;
    for (const IterationRoot& block : blocks) {
      const std::size_t from = before(block.ts_ns), to = before(end_of(block.ts_ns, block.dur_ns));
      events += to - from;
      ns = plus_ns(ns, minus_ns(sums_ns_[to], sums_ns_[from]));
    }
    return events >= starts_.size() - events && ns >= minus_ns(sums_ns_.back(), ns);
  }

 private:
  [[nodiscard]] std::size_t before(std::int64_t ns) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(starts_, ns) - starts_.begin());
  }

  std::vector<std::int64_t> starts_, sums_ns_{0};  // launches, ascending; GPU time before each
};

}  // namespace

std::optional<Repeats> find_repeats(std::span<const StringId> names, std::size_t starts) {
  std::vector<std::size_t> matches;
  for (std::size_t start = 0; start < std::min(names.size(), starts); ++start) {
    const auto rest = names.subspan(start);
    prefix_matches(rest, matches);
    for (std::size_t period = 1; period <= rest.size() / kMinRepeats; ++period) {
      const std::size_t count = 1 + matches[period] / period;
      if (count >= kMinRepeats && count * period > rest.size() / 2)
        return Repeats{start, period, count};
    }
  }
  return std::nullopt;
}

std::vector<IterationRoot> find_reference_iterations(const Trace& trace, const Tree& tree) {
  std::size_t left = 1'000'000'000;  // comparisons; a list of 30,000 names may take them all
  const auto has_work_below = [&](NodeId node) {
    return tree.gpu_count(node) > 0 && !is_gpu(trace.category(tree.event(node)));
  };
  // The tops with an op below them, by the time of the first.
  std::vector<std::pair<std::int64_t, NodeId>> tops;
  for (const NodeId root : tree.roots())
    for (NodeId node = root; node < tree.end(root); ++node.row)
      if (tree.is_op(node)) {
        tops.emplace_back(trace.ts_ns()[tree.event(node).row], root);
        break;
      }
  std::ranges::stable_sort(tops, {}, [](const auto& top) { return top.first; });
  std::vector<NodeId> queue;
  for (const auto& [ts_ns, root] : tops) queue.push_back(root);
  for (std::size_t at = 0; at < queue.size(); ++at) {
    const std::vector<NodeId> children = children_of(tree, queue[at]);
    if (std::ranges::none_of(children, has_work_below)) continue;
    std::vector<StringId> names;
    for (const NodeId child : children) names.push_back(trace.names()[tree.event(child).row]);
    const std::size_t starts = std::min(names.size(), 256 + left / names.size());
    const auto repeats = find_repeats(names, starts);
    left -= std::min(left, starts * names.size());
    if (!repeats) {
      std::ranges::copy_if(children, std::back_inserter(queue), has_work_below);
      continue;
    }
    std::vector<std::size_t> firsts, lasts;
    for (std::size_t i = repeats->start; i < names.size(); ++i) {
      if (names[i] == names[repeats->start]) firsts.push_back(i);
      if (names[i] == names[repeats->start + repeats->period - 1]) lasts.push_back(i);
    }
    std::vector<IterationRoot> found;
    for (std::size_t i = 0; i < std::min(firsts.size(), lasts.size()); ++i) {
      if (lasts[i] < firsts[i]) break;
      const EventId first = tree.event(children[firsts[i]]);
      const std::int64_t start = trace.ts_ns()[first.row];
      found.push_back(
          {first, start, minus_ns(end_of(trace, tree.event(children[lasts[i]])), start)});
    }
    return found;
  }
  return {};
}

std::vector<IterationRoot> find_iterations(const Trace& trace, const Tree& tree) {
  std::optional<LaunchedWork> launched;
  std::vector<NodeId> queue(tree.roots().begin(), tree.roots().end());
  for (std::size_t at = 0; at < queue.size(); ++at) {
    const NodeId node = queue[at];
    // A loop is made of Python calls: the kernels of a fused op repeat as well, and are no steps.
    if (tree.gpu_count(node) == 0 || trace.category(tree.event(node)) != Category::kPythonFunction)
      continue;
    const std::vector<NodeId> children = children_of(tree, node);
    std::vector<StringId> names;
    names.reserve(children.size());
    for (const NodeId child : children) names.push_back(trace.names()[tree.event(child).row]);
    if (const auto repeats = find_repeats(names)) {
      // Three equal calls in a row are no loop unless the GPU work of the caller is in them.
      const auto block =
          std::span{children}.subspan(repeats->start, repeats->period * repeats->count);
      std::uint64_t gpu_events = 0;
      for (const NodeId child : block) gpu_events += tree.gpu_count(child);
      if (gpu_events > tree.gpu_count(node) / 2) {
        std::vector<IterationRoot> blocks = blocks_of(trace, tree, children, *repeats);
        if (!launched) launched.emplace(trace, tree);
        // Else it is a loop of a part of the run, such as the layers of one of several models.
        if (launched->is_mostly_in(blocks)) return blocks;
      }
    }
    for (const NodeId child : children)
      if (tree.gpu_count(child) > 0) queue.push_back(child);
  }
  return {};
}

}  // namespace tracelens
