// Which calls of a trace are replayed.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tracelens/error.hpp>
#include <tracelens/tree.hpp>

#include "facts/launchers.hpp"
#include "report/replay/records.hpp"

namespace tracelens {
namespace {

std::string gpu_of(const Trace& trace) {
  const Value* const devices = trace.metadata("deviceProperties");
  if (devices == nullptr || devices->items().empty()) return "";
  const Value* const name = devices->items().front().find("name");
  return name == nullptr ? "" : name->as_text();
}

bool is_jax(const Trace& trace) { return trace.metadata(hlo::kModulesKey) != nullptr; }

// The calls that launched GPU work themselves, once each, in tree order.
std::vector<NodeId> launching_ops(const Trace& trace, const Tree& tree) {
  std::vector<NodeId> nodes = find_launchers(trace, tree);
  std::ranges::sort(nodes);
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());  // Clang 14 has no ranges one
  return nodes;
}

NodeId node_of_uid(const Trace& trace, const Tree& tree, std::uint64_t uid, std::string_view flag) {
  if (uid >= trace.size())
    throw Error{flag, fmt::format("there is no event {}: the trace has {}, numbered from 0", uid,
                                  trace.size())};
  const NodeId node = tree.node({static_cast<std::uint32_t>(uid)});
  if (!node.valid())
    throw Error{flag, fmt::format("event {} is no call or kernel of the call tree", uid)};
  return node;
}

class Chooser {
 public:
  Chooser(const Trace& trace, const Tree& tree)
      : trace_{trace}, tree_{tree}, builder_{trace, tree} {}

  [[nodiscard]] const RecordBuilder& builder() const { return builder_; }
  void add_launching() {
    for (const NodeId node : launching_ops(trace_, tree_))
      if (builder_.is_replayable(node)) builder_.count(node);
  }
  template <class Wanted>
  void add_ops(const Wanted& wanted) {
    for (std::uint32_t row = 0; row < tree_.size(); ++row)
      if (builder_.is_replayable({row}) && wanted(NodeId{row})) builder_.count({row});
  }
  void add_sequence(NodeId top, std::string name) {
    ReplaySequence sequence{.name = std::move(name), .kernel_ns = tree_.gpu_sum_ns(top)};
    const NodeId end = tree_.end(top);
    NodeId next = top;  // what a chosen op calls itself is not called again
    for (const NodeId node : launching_ops(trace_, tree_)) {
      if (node < next || node >= end || !builder_.is_replayable(node)) continue;
      sequence.records.push_back(builder_.count(node));
      next = tree_.end(node);
    }
    sequences_.push_back(std::move(sequence));
  }

  // Costliest first; `top` of them, when there is no sequence that needs all.
  Replay finish(std::optional<std::size_t> top) && {
    Replay replay{.gpu = gpu_of(trace_),
                  .is_jax = is_jax(trace_),
                  .records = std::move(builder_).finish(),
                  .sequences = std::move(sequences_)};
    sort_by_cost(replay);
    if (top && replay.sequences.empty() && replay.records.size() > *top)
      replay.records.resize(*top);
    return replay;
  }

 private:
  static void sort_by_cost(Replay& replay) {
    std::vector<std::size_t> order(replay.records.size()), place(replay.records.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      return replay.records[a].kernel_ns > replay.records[b].kernel_ns;
    });
    std::vector<ReplayRecord> sorted;
    for (const std::size_t index : order) {
      place[index] = sorted.size();
      sorted.push_back(std::move(replay.records[index]));
    }
    replay.records = std::move(sorted);
    for (ReplaySequence& sequence : replay.sequences)
      for (std::size_t& index : sequence.records) index = place[index];
  }

  const Trace& trace_;
  const Tree& tree_;
  RecordBuilder builder_;
  std::vector<ReplaySequence> sequences_;
};

NodeId module_named(const Trace& trace, const Tree& tree, const std::string& name) {
  for (std::uint32_t row = 0; row < tree.size(); ++row)
    if (tree.is_module({row}) && trace.name(tree.event({row})).ends_with(name)) return {row};
  throw Error{"--module",
              fmt::format("no nn.Module '{}' in the trace (it needs with_stack=True)", name)};
}

}  // namespace

Replay choose_replay(const Trace& trace, const ReplayChoice& choice) {
  const Tree tree = build_tree(trace, {.python_frames = !choice.module.empty()});
  Chooser chooser{trace, tree};
  const bool is_sequence = choice.subtree || !choice.module.empty();
  if (is_jax(trace) && (is_sequence || !choice.uids.empty()))
    throw Error{trace.source().name, "of a JAX profile, choose with --top, --name or --all-unique"};
  if (choice.subtree)
    chooser.add_sequence(node_of_uid(trace, tree, *choice.subtree, "--subtree"),
                         fmt::format("call {}", *choice.subtree));
  // The module's name stays in the trace: the script says only what was asked for, not what it is.
  if (!choice.module.empty())
    chooser.add_sequence(module_named(trace, tree, choice.module), "module");
  std::vector<NodeId> wanted;
  for (const std::uint64_t uid : choice.uids) {
    NodeId node = node_of_uid(trace, tree, uid, "--uid");
    if (!tree.is_op(node)) node = tree.nearest_op(node);
    if (!node.valid()) throw Error{"--uid", fmt::format("no op has event {} below it", uid)};
    wanted.push_back(node);
  }
  const auto is_named = [&](NodeId node) {
    return std::ranges::any_of(choice.names, [&](const std::string& name) {
      return chooser.builder().is_called(node, name);
    });
  };
  if (!wanted.empty())
    chooser.add_ops([&](NodeId node) {
      return std::ranges::find(wanted, node) != wanted.end() &&
             (choice.names.empty() || is_named(node));
    });
  else if (!choice.names.empty())
    chooser.add_ops(is_named);
  else if (choice.all_unique || is_jax(trace))  // HLO ops are in a profile by their kernels
    chooser.add_ops([](NodeId) { return true; });
  else if (!is_sequence)
    chooser.add_launching();
  Replay replay = std::move(chooser).finish(choice.top);
  if (replay.records.empty())
    throw Error{trace.source().name,
                replay.is_jax ? "no HLO op of this name is in the profile"
                              : "no op with recorded arguments is left to replay (traces need "
                                "record_shapes=True)"};
  return replay;
}

}  // namespace tracelens
