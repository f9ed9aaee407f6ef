#include "analysis/page/tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "analysis/jax/kernels.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

constexpr std::uint32_t kNoNode = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t kPartsOfAll = 10'000;  // nodes below such a part are small

// The autograd node around each node of the tree; invalid: none.
std::vector<NodeId> autograd_nodes(const Trace& trace, const Tree& tree) {
  constexpr std::string_view kName = "autograd::engine::evaluate_function";
  std::vector<std::uint8_t> is_autograd(trace.string_count());
  for (std::uint32_t name = 0; name < is_autograd.size(); ++name)
    is_autograd[name] = trace.text(StringId{name}).starts_with(kName) ? 1 : 0;
  std::vector<NodeId> found(tree.size());
  for (std::uint32_t row = 0; row < tree.size(); ++row) {
    const NodeId node{row}, parent = tree.parent(node);
    if (tree.is_op(node) && is_autograd[trace.names()[tree.event(node).row].row] != 0)
      found[row] = node;
    else if (parent.valid())
      found[row] = found[parent.row];
  }
  return found;
}

// When and where on the host an event was asked for. What was added to the trace has no time of its
// own; the call that launched it has.
struct HostMoment {
  TrackId track;
  std::int64_t ns = 0;
};
HostMoment moment_of(const Trace& trace, EventId event, EventId call) {
  const EventId measured = event.row < trace.recorded() || !call.valid() ? event : call;
  return {trace.tracks()[measured.row], trace.ts_ns()[measured.row]};
}

// The place of the GPU work of an op or call.
struct LauncherPlace {
  std::uint32_t node = 0;  // 1 + that of the op
  WorkPlace place;
  bool is_backward = false;
};

}  // namespace

std::size_t PageTree::KeyHash::operator()(const Key& key) const {
  std::uint64_t hash = (std::uint64_t{key.parent} << 32) | key.name;
  hash ^=
      (std::uint64_t{key.op} << 8 | static_cast<std::uint64_t>(key.level)) * 0x9e3779b97f4a7c15ULL;
  hash = (hash ^ (hash >> 31)) * 0xbf58476d1ce4e5b9ULL;
  return static_cast<std::size_t>(hash ^ (hash >> 29));
}

std::uint32_t PageTree::node(const Key& key) {
  const auto [entry, is_new] =
      places_.try_emplace(key, static_cast<std::uint32_t>(nodes_.size() + 1));
  if (is_new)
    nodes_.push_back({.parent = key.parent, .name = key.name, .level = key.level, .op = key.op});
  return entry->second;
}

// Nodes are made from the outermost span on; each span is counted as a call once.
std::uint32_t PageTree::node_of(const HostSpans& spans, std::uint32_t span, std::uint32_t root,
                                PageLevel level, TraceNames& names,
                                std::vector<std::uint32_t>& nodes) {
  std::vector<std::uint32_t> path;
  for (; span != HostSpans::kNone && nodes[span] == 0; span = spans[span].parent)
    path.push_back(span);
  std::uint32_t above = span == HostSpans::kNone ? root : nodes[span];
  for (auto each = path.rbegin(); each != path.rend(); ++each) {
    const EventId event = spans[*each].event;
    const PageName name = level == PageLevel::kModule ? names.of_module(event) : names.of(event);
    above = node({above, name, 0, level});
    ++nodes_[above - 1].calls;
    nodes[*each] = above;
  }
  return above;
}

void PageTree::add(std::size_t run, const PageSource& source, const HostSpans& modules,
                   const HostSpans& annotations, TraceNames& names, TraceOps& ops) {
  const TraceFacts& facts = source.facts;
  const Trace& trace = facts.trace();
  const Tree& tree = facts.tree();
  const bool is_jax = facts.kind() == TraceKind::kJax;
  const std::span<const NodeId> launchers = facts.launchers();
  const std::vector<NodeId> autograd = autograd_nodes(trace, tree);
  const std::span<const GpuJob> jobs = source.host.jobs();
  const std::uint32_t root =
      source.name.empty() ? 0 : node({0, names.of(source.name), 0, PageLevel::kAnnotation});
  if (root != 0) nodes_[root - 1].calls = 1;
  if (runs_.size() <= run) runs_.resize(run + 1);
  runs_[run].places.resize(jobs.size());
  runs_[run].module_nodes.resize(modules.all().size());
  std::vector<std::uint32_t> annotation_nodes(annotations.all().size());
  std::unordered_map<std::uint32_t, LauncherPlace> known;  // by node of the tree
  std::unordered_set<std::uint32_t> module_runs;           // of JAX, that are counted

  const auto find_place = [&](NodeId launcher, EventId call) {
    LauncherPlace found;
    const EventId event = tree.event(launcher);
    const HostMoment moment = moment_of(trace, event, call);
    std::uint32_t module = modules.at(moment.track, moment.ns);
    if (const NodeId backward = autograd[launcher.row]; backward.valid()) {
      found.is_backward = true;
      // A module that runs below an autograd node computes something a second time.
      const EventId forward = tree.forward_of(tree.event(backward));
      const bool is_inside = module != HostSpans::kNone &&
                             modules[module].start_ns >= trace.ts_ns()[tree.event(backward).row];
      if (!is_inside && forward.valid())
        module = modules.at(trace.tracks()[forward.row], trace.ts_ns()[forward.row]);
    }
    std::uint32_t above = root;
    if (is_jax) {  // the compiled module around the op
      const NodeId parent = tree.parent(launcher);
      if (parent.valid() && is_jax_span(trace, tree.event(parent))) {
        above = node({root, names.of(tree.event(parent)), 0, PageLevel::kModule});
        if (module_runs.insert(parent.row).second) ++nodes_[above - 1].calls;
        found.place.module = above;
      }
    } else if (module != HostSpans::kNone) {
      above = node_of(modules, module, root, PageLevel::kModule, names, runs_[run].module_nodes);
      found.place.module = above;
    } else if (const std::uint32_t annotation = annotations.at(moment.track, moment.ns);
               annotation != HostSpans::kNone) {
      above =
          node_of(annotations, annotation, root, PageLevel::kAnnotation, names, annotation_nodes);
      found.place.module = above;
    }
    found.place.op = ops.of(event);
    found.node = node({above, names.of(event), found.place.op, PageLevel::kOp});
    ++nodes_[found.node - 1].calls;
    return found;
  };

  for (std::size_t job = 0; job < jobs.size(); ++job) {
    const EventId gpu = jobs[job].gpu;
    const NodeId gpu_node = tree.node(gpu);
    if (!gpu_node.valid()) continue;
    const auto position = static_cast<std::size_t>(tree.gpu_events(gpu_node).data() -
                                                   tree.linked_gpu_events().data());
    const NodeId launcher = is_jax ? tree.parent(gpu_node) : launchers[position];
    const auto [entry, is_new] = known.try_emplace(launcher.row);
    if (is_new) entry->second = find_place(launcher, jobs[job].call);
    const LauncherPlace& place = entry->second;
    const std::uint32_t kernel = node({place.node, names.of(gpu), 0, PageLevel::kKernel});
    PageNode& leaf = nodes_[kernel - 1];
    const std::int64_t ns = duration_of(trace, gpu);
    ++leaf.calls;
    ++leaf.gpu_events;
    leaf.gpu_ns = plus_ns(leaf.gpu_ns, ns);
    if (place.is_backward) leaf.backward_ns = plus_ns(leaf.backward_ns, ns);
    leaves_.push_back({kernel - 1, classes_.of(run, job), ns});
    runs_[run].places[job] = place.place;
  }
}

// Parents stand before their children.
void PageTree::sum_up() {
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    const PageNode& node = nodes_[i];
    if (node.parent == 0) continue;
    PageNode& parent = nodes_[node.parent - 1];
    parent.gpu_ns = plus_ns(parent.gpu_ns, node.gpu_ns);
    parent.backward_ns = plus_ns(parent.backward_ns, node.backward_ns);
    parent.gpu_events += node.gpu_events;
  }
}

// Where each node has gone.
std::vector<std::uint32_t> PageTree::fold(std::size_t most_nodes) {
  std::vector<std::uint32_t> places(nodes_.size());
  for (std::uint32_t i = 0; i < places.size(); ++i) places[i] = i;
  if (nodes_.size() <= most_nodes) return places;
  std::int64_t all_ns = 0;
  for (const PageNode& node : nodes_)
    if (node.parent == 0) all_ns = plus_ns(all_ns, node.gpu_ns);
  std::vector<bool> is_kept;
  std::vector<std::uint32_t> folded_children;  // of each kept node; the last: of none
  for (std::int64_t limit = std::max<std::int64_t>(1, all_ns / kPartsOfAll);; limit *= 2) {
    is_kept.assign(nodes_.size(), false);
    folded_children.assign(nodes_.size() + 1, 0);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const std::uint32_t parent = nodes_[i].parent;
      if (parent != 0 && !is_kept[parent - 1]) continue;
      is_kept[i] = nodes_[i].gpu_ns >= limit;
      if (is_kept[i])
        ++kept;
      else if (++folded_children[parent == 0 ? nodes_.size() : parent - 1] == 1)
        ++kept;
    }
    if (kept <= most_nodes || limit > std::numeric_limits<std::int64_t>::max() / 4) break;
  }
  std::vector<PageNode> rest;
  std::vector<std::uint32_t> rest_of(nodes_.size() + 1, kNoNode), kept_place(nodes_.size());
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    const PageNode& node = nodes_[i];
    const std::size_t parent = node.parent == 0 ? nodes_.size() : node.parent - 1;
    if (node.parent != 0 && !is_kept[parent]) {  // goes with its parent
      places[i] = places[parent];
      continue;
    }
    PageNode moved = node;
    if (node.parent != 0) moved.parent = kept_place[parent] + 1;
    if (is_kept[i]) {
      places[i] = kept_place[i] = static_cast<std::uint32_t>(rest.size());
      rest.push_back(moved);
      continue;
    }
    if (rest_of[parent] == kNoNode) {
      rest_of[parent] = static_cast<std::uint32_t>(rest.size());
      rest.push_back({.parent = moved.parent,
                      .name = names_.of(fmt::format("rest of {}", folded_children[parent])),
                      .level = node.level});
    }
    places[i] = rest_of[parent];
    PageNode& together = rest[places[i]];
    together.gpu_ns = plus_ns(together.gpu_ns, node.gpu_ns);
    together.backward_ns = plus_ns(together.backward_ns, node.backward_ns);
    together.calls += node.calls;
    together.gpu_events += node.gpu_events;
  }
  nodes_ = std::move(rest);
  return places;
}

// Children stand in the order in which they were first called.
void PageTree::order_by_tree(std::vector<std::uint32_t>& places) {
  std::vector<std::vector<std::uint32_t>> children(nodes_.size() + 1);
  for (std::uint32_t i = 0; i < nodes_.size(); ++i)
    children[nodes_[i].parent == 0 ? nodes_.size() : nodes_[i].parent - 1].push_back(i);
  std::vector<std::uint32_t> open{children.back().rbegin(), children.back().rend()};
  std::vector<std::uint32_t> moved_to(nodes_.size());
  std::vector<PageNode> ordered;
  ordered.reserve(nodes_.size());
  while (!open.empty()) {
    const std::uint32_t i = open.back();
    open.pop_back();
    moved_to[i] = static_cast<std::uint32_t>(ordered.size());
    ordered.push_back(nodes_[i]);
    if (nodes_[i].parent != 0) ordered.back().parent = moved_to[nodes_[i].parent - 1] + 1;
    open.insert(open.end(), children[i].rbegin(), children[i].rend());
  }
  nodes_ = std::move(ordered);
  for (std::uint32_t& place : places) place = moved_to[place];
}

void PageTree::name_kinds() {
  const std::size_t kinds = classes_.all().size();
  std::vector<std::int64_t> times(nodes_.size() * kinds);
  for (const Leaf& leaf : leaves_) {
    std::int64_t& ns = times[leaf.node * kinds + leaf.kind];
    ns = plus_ns(ns, leaf.ns);
  }
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    const auto own = times.begin() + static_cast<std::ptrdiff_t>(i * kinds);
    const auto most = std::max_element(own, own + static_cast<std::ptrdiff_t>(kinds));
    nodes_[i].kind = static_cast<std::uint8_t>(most - own);
    if (nodes_[i].parent == 0) continue;
    for (std::size_t kind = 0; kind < kinds; ++kind) {
      std::int64_t& above = times[(nodes_[i].parent - 1) * kinds + kind];
      above = plus_ns(above, times[i * kinds + kind]);
    }
  }
}

std::vector<PageNode> PageTree::finish(std::size_t most_nodes) {
  sum_up();
  std::vector<std::uint32_t> places = fold(most_nodes);
  order_by_tree(places);
  places_.clear();
  for (Leaf& leaf : leaves_) leaf.node = places[leaf.node];
  name_kinds();
  leaves_ = {};
  const auto move = [&places](std::uint32_t& node) {
    if (node != 0) node = places[node - 1] + 1;
  };
  for (Run& run : runs_) {
    for (WorkPlace& place : run.places) move(place.module);
    for (std::uint32_t& node : run.module_nodes) move(node);
  }
  return std::move(nodes_);
}

WorkPlace PageTree::place(std::size_t run, std::size_t job) const {
  return run < runs_.size() ? runs_[run].places[job] : WorkPlace{};
}

std::uint32_t PageTree::module(std::size_t run, const HostSpans& modules,
                               std::uint32_t span) const {
  const std::vector<std::uint32_t>& nodes = runs_[run].module_nodes;
  while (span != HostSpans::kNone && nodes[span] == 0) span = modules[span].parent;
  return span == HostSpans::kNone ? 0 : nodes[span];
}

}  // namespace tracelens
