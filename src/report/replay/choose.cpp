// Which calls of a trace are replayed.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <tracelens/error.hpp>
#include <tracelens/tree.hpp>
#include <utility>

#include "facts/launchers.hpp"
#include "report/replay/records.hpp"
#include "table/letters_between.hpp"
#include "tree/links.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

std::string gpu_of(const Trace& trace) {
  const Value* const devices = trace.metadata("deviceProperties");
  if (devices == nullptr || devices->items().empty()) return "";
  const Value* const name = devices->items().front().find("name");
  return name == nullptr ? "" : name->as_text();
}

// "; did you mean 'aten::mm', 'aten::bmm'?", or nothing when no name is like this one. A name
// without its namespace is compared with names without theirs.
std::string did_you_mean(std::string_view wanted, const std::set<std::string_view>& names) {
  constexpr std::size_t kLongest = 128, kMost = 3;
  if (wanted.size() > kLongest) return "";
  std::vector<std::pair<std::size_t, std::string_view>> found;
  for (const std::string_view name : names) {
    const std::size_t space = wanted.find("::") == wanted.npos ? name.rfind("::") : name.npos;
    const std::string_view compared = space == name.npos ? name : name.substr(space + 2);
    if (compared.size() > kLongest) continue;
    const std::size_t distance = letters_between(wanted, compared);
    if (distance <= 1 + wanted.size() / 4) found.emplace_back(distance, name);
  }
  std::ranges::sort(found);
  if (found.size() > kMost) found.resize(kMost);
  std::string out;
  for (const auto& [distance, name] : found)
    out += fmt::format("{} '{}'", out.empty() ? "; did you mean" : ",", name);
  return out.empty() ? out : out + "?";
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
  std::set<std::string_view> modules;
  for (std::uint32_t row = 0; row < tree.size(); ++row) {
    if (!tree.is_module({row})) continue;
    const std::string_view module = trace.name(tree.event({row}));
    if (module.ends_with(name)) return {row};
    modules.insert(module.substr(module.find(": ") + 2));  // "nn.Module: Block_0"
  }
  if (modules.empty())
    throw Error{"--module", "the trace names no nn.Modules (it needs with_stack=True)"};
  throw Error{"--module",
              fmt::format("no nn.Module '{}' in the trace{}", name, did_you_mean(name, modules))};
}

bool is_in_graph(const Trace& trace, const Tree& tree, NodeId node) {
  const NodeId parent = tree.parent(node);
  return is_graph_launch(trace.name(tree.event(node))) ||
         (parent.valid() && is_graph_launch(trace.name(tree.event(parent))));
}

double graph_share(const Trace& trace, const Tree& tree) {
  std::int64_t all = 0, in_graphs = 0;
  for (const EventId gpu : tree.linked_gpu_events()) {
    const std::int64_t ns = duration_of(trace, gpu);
    all = plus_ns(all, ns);
    if (is_in_graph(trace, tree, tree.node(gpu))) in_graphs = plus_ns(in_graphs, ns);
  }
  return all > 0 ? static_cast<double>(in_graphs) / static_cast<double>(all) : 0;
}

// A sentence about each name that no call has, which is a slip of the pen; an error when none is right.
std::vector<std::string> check_names(const Trace& trace, const Tree& tree,
                                     const RecordBuilder& builder,
                                     const std::vector<std::string>& names) {
  std::set<std::string_view> known;
  std::vector<bool> found(names.size());
  for (std::uint32_t row = 0; row < tree.size(); ++row) {
    if (!builder.is_replayable({row})) continue;
    known.insert(trace.name(tree.event({row})));
    for (std::size_t i = 0; i < names.size(); ++i)
      found[i] = found[i] || builder.is_called({row}, names[i]);
  }
  std::vector<std::string> problems;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!found[i])
      problems.push_back(fmt::format("no {} '{}' with recorded arguments in the trace{}",
                                     is_jax(trace) ? "HLO op" : "op", names[i],
                                     did_you_mean(names[i], known)));
  if (!known.empty() && problems.size() == names.size()) throw Error{"--name", problems.front()};
  return problems;
}

// Numbers and names together choose calls that fit both.
void check_calls(const Trace& trace, const Tree& tree, const RecordBuilder& builder,
                 const std::vector<NodeId>& nodes, const ReplayChoice& choice) {
  for (const NodeId node : nodes) {
    const auto is_called = [&](const std::string& name) { return builder.is_called(node, name); };
    if (builder.is_replayable(node) &&
        (choice.names.empty() || std::ranges::any_of(choice.names, is_called)))
      return;
  }
  const std::string_view name = trace.name(tree.event(nodes.front()));
  if (!builder.is_replayable(nodes.front()))
    throw Error{"--uid", fmt::format("event {} belongs to {}, whose arguments the trace does not "
                                     "record (it needs record_shapes=True)",
                                     choice.uids.front(), name)};
  throw Error{"--uid", fmt::format("event {} belongs to {}, not to {}", choice.uids.front(), name,
                                   fmt::join(choice.names, " or "))};
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
    if (is_in_graph(trace, tree, node))
      throw Error{"--uid", fmt::format("event {} is part of a graph launch, of which the trace "
                                       "does not name the ops: add the trace of the graph's "
                                       "capture with --capture",
                                       uid)};
    if (!tree.is_op(node)) node = tree.nearest_op(node);
    if (!node.valid()) throw Error{"--uid", fmt::format("no op has event {} below it", uid)};
    wanted.push_back(node);
  }
  const auto is_named = [&](NodeId node) {
    return std::ranges::any_of(choice.names, [&](const std::string& name) {
      return chooser.builder().is_called(node, name);
    });
  };
  std::vector<std::string> warnings;
  if (!wanted.empty()) {
    check_calls(trace, tree, chooser.builder(), wanted, choice);
    chooser.add_ops([&](NodeId node) {
      return std::ranges::find(wanted, node) != wanted.end() &&
             (choice.names.empty() || is_named(node));
    });
  } else if (!choice.names.empty()) {
    warnings = check_names(trace, tree, chooser.builder(), choice.names);
    chooser.add_ops(is_named);
  } else if (choice.all_unique || is_jax(trace))  // HLO ops are in a profile by their kernels
    chooser.add_ops([](NodeId) { return true; });
  else if (!is_sequence)
    chooser.add_launching();
  Replay replay = std::move(chooser).finish(choice.top);
  replay.graph_share = graph_share(trace, tree);
  replay.warnings = std::move(warnings);
  if (replay.records.empty())
    throw Error{
        trace.source().name,
        replay.is_jax ? "no HLO op of this name is in the profile"
        : replay.graph_share > 0.5
            ? "no op with recorded arguments is left to replay: the GPU time is in graph launches, "
              "of which the trace does not name the ops; add the traces of their captures with "
              "--capture"
            : "no op with recorded arguments is left to replay (traces need record_shapes=True)"};
  return replay;
}

}  // namespace tracelens
