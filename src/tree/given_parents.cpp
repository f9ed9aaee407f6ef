#include "tree/given_parents.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "tree/time_math.hpp"

namespace tracelens {
namespace {

constexpr std::uint32_t kNoRow = std::numeric_limits<std::uint32_t>::max();

}  // namespace

GivenParents::GivenParents(const Trace& trace, Tree nested)
    : trace_{trace}, nested_{std::move(nested)} {
  tree_.stats_ = nested_.stats_;
}

void GivenParents::take_nodes() {
  const std::size_t rows = trace_.size();
  flags_.assign(rows, kNoNode);
  parents_.assign(rows, EventId{});
  places_.assign(rows, 0);
  for (std::uint32_t i = 0; i < nested_.size(); ++i) {
    const std::uint32_t row = nested_.events_[i].row;
    flags_[row] = nested_.flags_[i];
    places_[row] = i;
    if (const NodeId parent = nested_.parents_[i]; parent.valid())
      parents_[row] = nested_.events_[parent.row];
  }
  for (const std::uint32_t row : trace_.given_parents().rows()) {
    if (is_node(row)) continue;
    const Category category = trace_.categories()[row];
    flags_[row] = category == Category::kCpuOp ? Tree::kOpFlag
                  : category == Category::kPythonFunction && is_module_name(trace_.name({row}))
                      ? Tree::kModuleFlag
                      : std::uint8_t{0};
    places_[row] = nested_.size() + row;
  }
  for (const EventId event : trace_.passed_over())
    if (is_node(event.row)) flags_[event.row] |= Tree::kPassedOverFlag;
}

void GivenParents::take_given_parents() {
  const std::span rows = trace_.given_parents().rows();
  const std::span values = trace_.given_parents().values();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::uint32_t row = rows[i], parent = values[i].row;
    if (!values[i].valid()) {  // a root
      parents_[row] = {};
      continue;
    }
    if (parent >= trace_.size() || !is_node(parent) || is_gpu(trace_.categories()[parent])) {
      ++tree_.stats_.ignored_parents;
      continue;
    }
    parents_[row] = {parent};
    // An added event stands where what it took over stood. Rows ascend: the place of what is taken
    // over is final. (A replayed kernel does not say where in its capture the launch was.)
    if (parent >= trace_.recorded() && row < parent && !is_gpu(trace_.categories()[row]))
      places_[parent] = std::min(places_[parent], places_[row]);
  }
}

void GivenParents::order_siblings() {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < trace_.size(); ++row)
    if (is_node(row)) rows.push_back(row);
  // Host children first, then GPU events.
  const auto goes_before = [this](std::uint32_t a, std::uint32_t b) {
    const bool a_is_gpu = is_gpu(trace_.categories()[a]), b_is_gpu = is_gpu(trace_.categories()[b]);
    if (a_is_gpu != b_is_gpu) return b_is_gpu;
    return places_[a] != places_[b] ? places_[a] < places_[b] : a < b;
  };
  std::ranges::sort(rows, goes_before);
  first_child_.assign(trace_.size(), kNoRow);
  next_sibling_.assign(trace_.size(), kNoRow);
  for (std::size_t i = rows.size(); i-- > 0;) {
    if (const EventId parent = parents_[rows[i]]; parent.valid())
      next_sibling_[rows[i]] = std::exchange(first_child_[parent.row], rows[i]);
  }
}

void GivenParents::add(EventId event, NodeId parent) {
  const NodeId node{static_cast<std::uint32_t>(tree_.events_.size())};
  tree_.events_.push_back(event);
  tree_.parents_.push_back(parent);
  tree_.ends_.push_back(node.row + 1);
  tree_.flags_.push_back(flags_[event.row]);
  tree_.gpu_before_.push_back(static_cast<std::uint32_t>(tree_.gpu_events_.size()));
  tree_.nodes_[event.row] = node;
  if (!is_gpu(trace_.category(event))) return;
  tree_.gpu_events_.push_back(event);
  tree_.gpu_ns_before_.push_back(plus_ns(tree_.gpu_ns_before_.back(), duration_of(trace_, event)));
}

// Writes a root and all below it; lists of children are used up. A GPU event that nobody launched is
// not a node.
void GivenParents::place(std::uint32_t root, bool python_frames) {
  struct Open {
    std::uint32_t row;
    NodeId node;  // of the event, or of the nearest above it where frames are left out
    bool is_placed;
  };
  std::vector<Open> open;
  const auto enter = [&](std::uint32_t row, NodeId parent) {
    const Category category = trace_.categories()[row];
    const bool is_placed =
        is_gpu(category) ? parent.valid() : python_frames || category != Category::kPythonFunction;
    if (is_placed) add({row}, parent);
    open.push_back({row, is_placed ? tree_.nodes_[row] : parent, is_placed});
  };
  enter(root, {});
  while (!open.empty()) {
    const Open top = open.back();
    if (const std::uint32_t child = first_child_[top.row]; child != kNoRow) {
      first_child_[top.row] = next_sibling_[child];
      enter(child, top.node);
      continue;
    }
    if (top.is_placed) tree_.ends_[top.node.row] = static_cast<std::uint32_t>(tree_.events_.size());
    open.pop_back();
  }
}

// A ring of parents hangs from no root. Times make none, so each has a given parent: cut there.
void GivenParents::cut_rings() {
  enum class Seen : std::uint8_t { kNo, kNow, kBefore };
  std::vector<Seen> seen(trace_.size(), Seen::kNo);
  std::vector<std::uint32_t> path;
  for (const std::uint32_t start : trace_.given_parents().rows()) {
    path.clear();
    EventId event{start};
    for (; event.valid() && seen[event.row] == Seen::kNo; event = parents_[event.row]) {
      seen[event.row] = Seen::kNow;
      path.push_back(event.row);
    }
    if (event.valid() && seen[event.row] == Seen::kNow) {
      const auto ring = std::ranges::find(path, event.row);
      const auto cut = std::find_if(ring, path.end(), [this](std::uint32_t row) {
        return trace_.given_parents().at({row}).has_value();
      });
      parents_[*cut] = {};
      ++tree_.stats_.ignored_parents;
    }
    for (const std::uint32_t row : path) seen[row] = Seen::kBefore;
  }
}

void GivenParents::list_op_roots() {
  std::vector<bool> below_op(tree_.size());
  for (std::uint32_t i = 0; i < tree_.size(); ++i) {
    const NodeId node{i}, parent = tree_.parent(node);
    below_op[i] = parent.valid() && (tree_.is_op(parent) || below_op[parent.row]);
    if (tree_.is_op(node) && !below_op[i]) tree_.op_roots_.push_back(tree_.event(node));
  }
}

Tree GivenParents::apply(const TreeOptions& options) && {
  take_nodes();
  take_given_parents();
  cut_rings();
  order_siblings();
  tree_.nodes_.assign(trace_.size(), NodeId{});
  tree_.gpu_ns_before_.push_back(0);
  // The trees of recorded events keep their order.
  for (const EventId event : nested_.events_)
    if (!parents_[event.row].valid()) place(event.row, options.python_frames);
  for (const std::uint32_t row : trace_.given_parents().rows())
    if (!parents_[row].valid() && !nested_.nodes_[row].valid()) place(row, options.python_frames);
  tree_.gpu_before_.push_back(static_cast<std::uint32_t>(tree_.gpu_events_.size()));
  list_op_roots();
  return std::move(tree_);
}

}  // namespace tracelens
