#include "analysis/diff/side.hpp"

#include "tree/links.hpp"

namespace tracelens {

DiffSide::DiffSide(const Trace& trace, const Tree& tree, DiffNames& names)
    : trace_{trace},
      tree_{tree},
      names_{names},
      plain_ids_(trace.string_count()),
      stripped_ids_(trace.string_count()) {}

std::int64_t DiffSide::ts_ns(NodeId node) const {
  const std::int64_t ts = trace_.ts_ns()[tree_.event(node).row];
  return ts == kAbsent ? 0 : ts;
}

std::string DiffSide::title(NodeId node) const {
  const EventId event = tree_.event(node);
  const std::string_view name = trace_.name(event);
  return name.empty() ? std::to_string(event.row) : std::string{name};
}

bool DiffSide::is_dispatch(NodeId node) const {
  return is_runtime(category(node)) && !is_graph_launch(trace_.name(tree_.event(node)));
}

std::uint32_t DiffSide::named(std::vector<std::uint32_t>& ids, NodeId node, Strip strip) const {
  const StringId string = trace_.names()[tree_.event(node).row];
  if (!string.valid() || trace_.text(string).empty()) return DiffNames::kNone;
  std::uint32_t& id = ids[string.row];
  if (id == DiffNames::kNone)
    id = names_.id_of(comparable_name(trace_, trace_.text(string), strip));
  return id;
}

std::uint32_t DiffSide::name(NodeId node) const { return named(plain_ids_, node, Strip::kNo); }

std::uint32_t DiffSide::aligned_name(NodeId node, Strip strip) const {
  const std::uint32_t id =
      strip == Strip::kNo ? name(node) : named(stripped_ids_, node, Strip::kFunction);
  return id == DiffNames::kNone ? names_.id_of(title(node)) : id;
}

NodeId DiffSide::inner(NodeId node) const {
  if (trimmed_.empty()) return node;
  const auto found = trimmed_.find(node.row);
  return found == trimmed_.end() ? node : found->second;
}

template <class Use>
void DiffSide::for_each_child(NodeId node, Use&& use) const {
  const NodeId parent = inner(node);
  for (NodeId child{parent.row + 1}; child < tree_.end(parent); child = tree_.end(child))
    use(child);
}

std::vector<NodeId> DiffSide::children(NodeId node) const {
  std::vector<NodeId> found;
  for_each_child(node, [&found](NodeId child) { found.push_back(child); });
  return found;
}

std::vector<NodeId> DiffSide::gpu_children(NodeId node) const {
  std::vector<NodeId> found;
  for_each_child(node, [&](NodeId child) {
    if (is_gpu_path(child)) found.push_back(child);
  });
  return found;
}

// The only GPU-path child of a wrapper; invalid where the way down ends, which `at` then tells.
NodeId DiffSide::next_wrapped(NodeId node, Collapsed& at) const {
  at = {node, false};
  if (is_dispatch(node)) return {};
  bool launches = false;
  std::size_t count = 0;
  NodeId only;
  for_each_child(node, [&](NodeId child) {
    launches |= is_work(child);
    if (!is_gpu_path(child)) return;
    only = child;
    ++count;
  });
  if (launches && category(node) == Category::kCpuOp) return {};
  if (count == 1) return only;
  at.branches = count > 0;
  return {};
}

DiffSide::Collapsed DiffSide::collapse(NodeId node) {
  std::vector<NodeId> way;  // all of it has the same answer
  Collapsed result;
  for (NodeId at = node; at.valid();) {
    if (const auto known = collapsed_.find(at.row); known != collapsed_.end()) {
      result = known->second;
      break;
    }
    way.push_back(at);
    at = next_wrapped(at, result);
  }
  for (const NodeId each : way) collapsed_[each.row] = result;
  return result;
}

}  // namespace tracelens
