#include "tree/builder.hpp"

#include <algorithm>
#include <utility>

#include "tree/autograd.hpp"
#include "tree/given_parents.hpp"
#include "tree/time_math.hpp"
#include "tree/time_order.hpp"

namespace tracelens {

TreeBuilder::TreeBuilder(const Trace& trace, const TreeOptions& options, const CategoryRows& rows,
                         const HostRows& host)
    : trace_{trace},
      host_{host},
      options_{options},
      wants_frames_{options.python_frames},
      launches_{find_launches(trace, options, rows)} {
  options_.python_frames = nests_frames(trace, options);
  if (options_.python_frames) module_names_.assign(trace.string_count(), IsModule::kUnknown);
}

Tree TreeBuilder::build() && {
  const std::size_t left_out = options_.python_frames ? 0 : host_.frames;
  reserve(host_.rows.size() - left_out + launches_.linked());
  for (std::size_t track = 0; track < host_.tracks(); ++track) place_track(host_.of(track));
  place_discarded_launches();
  tree_.gpu_before_.push_back(static_cast<std::uint32_t>(tree_.gpu_events_.size()));
  if (!trace_.given_parents().empty())
    tree_ = GivenParents{trace_, std::move(tree_)}.apply({.python_frames = wants_frames_});
  list_roots();
  link_autograd();

  Tree::Stats& stats = tree_.stats_;
  stats.unlinked_no_launch = launches_.without_launch();
  stats.unlinked_no_flow = launches_.without_flow();
  stats.links_by_external_id = launches_.by_external_id();
  stats.gpu_only = std::ranges::find(trace_.categories(), Category::kCpuOp) ==
                   std::ranges::end(trace_.categories());
  return std::move(tree_);
}

bool TreeBuilder::is_module(std::uint32_t row) {
  IsModule& known = module_names_[trace_.names()[row].row];
  if (known == IsModule::kUnknown)
    known = is_module_name(trace_.name({row})) ? IsModule::kYes : IsModule::kNo;
  return known == IsModule::kYes;
}

void TreeBuilder::reserve(std::size_t nodes) {
  tree_.events_.reserve(nodes);
  tree_.parents_.reserve(nodes);
  tree_.ends_.reserve(nodes);
  tree_.flags_.reserve(nodes);
  tree_.gpu_before_.reserve(nodes + 1);
  tree_.gpu_events_.reserve(launches_.linked());
  tree_.gpu_ns_before_.reserve(launches_.linked() + 1);
  tree_.gpu_ns_before_.push_back(0);
  tree_.nodes_.assign(trace_.size(), NodeId{});
}

NodeId TreeBuilder::add(EventId event, NodeId parent, std::uint8_t flags) {
  const NodeId node{static_cast<std::uint32_t>(tree_.events_.size())};
  tree_.events_.push_back(event);
  tree_.parents_.push_back(parent);
  tree_.ends_.push_back(node.row + 1);
  tree_.flags_.push_back(flags);
  tree_.gpu_before_.push_back(static_cast<std::uint32_t>(tree_.gpu_events_.size()));
  tree_.nodes_[event.row] = node;
  return node;
}

void TreeBuilder::add_gpu_events(EventId call, NodeId node) {
  for (EventId gpu = launches_.first(call); gpu.valid(); gpu = launches_.next(gpu)) {
    add(gpu, node, 0);
    tree_.gpu_events_.push_back(gpu);
    tree_.gpu_ns_before_.push_back(plus_ns(tree_.gpu_ns_before_.back(), duration_of(trace_, gpu)));
  }
}

void TreeBuilder::close(const Call& call) {
  add_gpu_events(tree_.events_[call.node.row], call.node);
  if (call.category == Category::kCpuOp) --open_ops_;
  tree_.ends_[call.node.row] = static_cast<std::uint32_t>(tree_.events_.size());
}

void TreeBuilder::place_track(std::span<const std::uint32_t> rows) {
  const auto on_close = [this](const Call& call) { close(call); };
  for (const std::uint32_t row : rows) {
    const Category category = trace_.categories()[row];
    if (category == Category::kPythonFunction && !options_.python_frames) continue;
    const std::int64_t end = end_of(trace_, {row});
    const Room room = stack_.make_room(trace_.ts_ns()[row], end, on_close);
    if (room == Room::kNone) {
      ++tree_.stats_.discarded;
      if (category == Category::kCpuOp) ++tree_.stats_.discarded_ops;
      if (launches_.first({row}).valid()) discarded_launches_.push_back({row});
      continue;
    }
    if (room == Room::kBeside) ++tree_.stats_.bleed_pops;
    std::uint8_t flags = 0;
    if (category == Category::kCpuOp) {
      flags = Tree::kOpFlag;
      if (open_ops_++ == 0) tree_.op_roots_.push_back({row});
    } else if (category == Category::kPythonFunction && is_module(row)) {
      flags = Tree::kModuleFlag;
    }
    const NodeId node = add({row}, stack_.empty() ? NodeId{} : stack_.top().node, flags);
    stack_.push(end, {node, category});
  }
  stack_.close_all(on_close);
}

// A discarded call has no place among the host events, but what it launched did run.
void TreeBuilder::place_discarded_launches() {
  for (const EventId call : discarded_launches_) {
    const NodeId node = add(call, NodeId{}, 0);
    add_gpu_events(call, node);
    tree_.ends_[node.row] = static_cast<std::uint32_t>(tree_.events_.size());
  }
}

void TreeBuilder::list_roots() {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t node = 0; node < tree_.size(); node = tree_.ends_[node])
    rows.push_back(tree_.events_[node].row);
  sort_by_time(rows, trace_.ts_ns(), scratch_);
  for (const std::uint32_t row : rows) tree_.roots_.push_back(tree_.nodes_[row]);

  rows.clear();
  for (const EventId op : tree_.op_roots_) rows.push_back(op.row);
  sort_by_time(rows, trace_.ts_ns(), scratch_);
  std::ranges::transform(rows, tree_.op_roots_.begin(),
                         [](std::uint32_t row) { return EventId{row}; });
}

void TreeBuilder::link_autograd() {
  std::vector<AutogradLink> links = find_autograd_links(trace_);
  std::ranges::stable_sort(links, {}, &AutogradLink::forward);
  for (const auto& [backward, forward] : links) {
    tree_.forward_events_.push_back(forward);
    tree_.backward_of_forward_.push_back(backward);
  }
  std::ranges::sort(links, {}, &AutogradLink::backward);
  for (const auto& [backward, forward] : links) {
    tree_.backward_events_.push_back(backward);
    tree_.forward_of_backward_.push_back(forward);
  }
}

Tree build_tree(const Trace& trace, const TreeOptions& options, const CategoryRows& rows,
                const HostRows& host) {
  return TreeBuilder{trace, options, rows, host}.build();
}

Tree build_tree(const Trace& trace, const TreeOptions& options) {
  return build_tree(trace, options, CategoryRows{trace},
                    host_rows_by_time(trace, {.python_frames = nests_frames(trace, options)}));
}

}  // namespace tracelens
