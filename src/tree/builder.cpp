#include "tree/builder.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "tree/autograd.hpp"
#include "tree/time_math.hpp"
#include "tree/time_order.hpp"

namespace tracelens {
namespace {

// An event may outlast its caller by less than this (clocks are read one after the other) and then
// counts as called by the caller's caller.
constexpr std::uint64_t kBleedNs = 1000;

}  // namespace

TreeBuilder::TreeBuilder(const Trace& trace, const TreeOptions& options, const Launches& launches)
    : trace_{trace}, options_{options}, launches_{launches} {
  if (options_.python_frames) module_names_.assign(trace.string_count(), IsModule::kUnknown);
}

Tree TreeBuilder::build() && {
  {
    HostRows host = host_rows();
    reserve(host.rows.size() + launches_.linked());
    for (std::size_t track = 0; track + 1 < host.bounds.size(); ++track) {
      const auto rows = std::span{host.rows}.subspan(host.bounds[track],
                                                     host.bounds[track + 1] - host.bounds[track]);
      sort_by_time(rows, trace_.ts_ns(), scratch_);
      place_track(rows);
    }
  }
  place_discarded_launches();
  tree_.gpu_before_.push_back(static_cast<std::uint32_t>(tree_.gpu_events_.size()));
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

TreeBuilder::HostRows TreeBuilder::host_rows() const {
  std::array<bool, kCategoryCount> takes_part{};
  for (const Category category : {Category::kCpuOp, Category::kCudaRuntime, Category::kCudaDriver})
    takes_part[static_cast<std::size_t>(category)] = true;
  takes_part[static_cast<std::size_t>(Category::kPythonFunction)] = options_.python_frames;
  const auto for_each_host_row = [&, categories = trace_.categories(), phases = trace_.phases(),
                                  ts = trace_.ts_ns(), dur = trace_.dur_ns()](auto&& use) {
    for (std::uint32_t row = 0; row < categories.size(); ++row)
      if (takes_part[static_cast<std::size_t>(categories[row])] &&
          phases[row] == Phase::kComplete && ts[row] != kAbsent && dur[row] != kAbsent)
        use(row);
  };
  const std::span<const TrackId> tracks = trace_.tracks();
  HostRows host;
  host.bounds.assign(trace_.track_table().size() + 1, 0);
  for_each_host_row([&](std::uint32_t row) { ++host.bounds[tracks[row].row + 1]; });
  for (std::size_t i = 1; i < host.bounds.size(); ++i) host.bounds[i] += host.bounds[i - 1];
  host.rows.resize(host.bounds.back());
  std::vector<std::uint32_t> next(host.bounds.begin(), host.bounds.end() - 1);
  for_each_host_row([&](std::uint32_t row) { host.rows[next[tracks[row].row]++] = row; });
  return host;
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

void TreeBuilder::close_top() {
  const Open& top = open_.back();
  if (is_runtime(top.category)) add_gpu_events(tree_.events_[top.node.row], top.node);
  if (top.category == Category::kCpuOp) --open_ops_;
  tree_.ends_[top.node.row] = static_cast<std::uint32_t>(tree_.events_.size());
  open_.pop_back();
}

void TreeBuilder::place_track(std::span<const std::uint32_t> rows) {
  for (const std::uint32_t row : rows) {
    const Category category = trace_.categories()[row];
    const std::int64_t start = trace_.ts_ns()[row];
    const std::int64_t end = end_of(start, trace_.dur_ns()[row]);
    while (!open_.empty() && start >= open_.back().end_ns) close_top();
    if (!open_.empty() && end > open_.back().end_ns) {
      if (static_cast<std::uint64_t>(minus_ns(open_.back().end_ns, start)) < kBleedNs &&
          open_.size() >= 2) {
        close_top();
        ++tree_.stats_.bleed_pops;
      } else {
        ++tree_.stats_.discarded;
        if (category == Category::kCpuOp) ++tree_.stats_.discarded_ops;
        if (is_runtime(category) && launches_.first({row}).valid())
          discarded_launches_.push_back({row});
        continue;
      }
    }
    std::uint8_t flags = 0;
    if (category == Category::kCpuOp) {
      flags = Tree::kOpFlag;
      if (open_ops_++ == 0) tree_.op_roots_.push_back({row});
    } else if (category == Category::kPythonFunction && is_module(row)) {
      flags = Tree::kModuleFlag;
    }
    const NodeId node = add({row}, open_.empty() ? NodeId{} : open_.back().node, flags);
    open_.push_back({end, node, category});
  }
  while (!open_.empty()) close_top();
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

Tree build_tree(const Trace& trace, const TreeOptions& options) {
  return build_tree(trace, options, find_launches(trace, options));
}

Tree build_tree(const Trace& trace, const TreeOptions& options, const Launches& launches) {
  return TreeBuilder{trace, options, launches}.build();
}

}  // namespace tracelens
