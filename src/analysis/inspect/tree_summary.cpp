#include "analysis/inspect/tree_summary.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analysis/inspect/tree_choice.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

constexpr std::uint32_t kTop = kTopBranch;

// What record_function() marked on each thread, without the steps of the profiler.
class Annotations {
 public:
  explicit Annotations(const Trace& trace) : trace_{trace} {
    for (const EventId event : trace.all_events())
      if (trace.category(event) == Category::kUserAnnotation &&
          trace.ts_ns()[event.row] != kAbsent && !trace.name(event).starts_with("ProfilerStep#"))
        marks_.push_back({trace.tracks()[event.row].row, trace.ts_ns()[event.row],
                          end_of(trace, event), event, kNone});
    std::ranges::stable_sort(marks_, [](const Mark& a, const Mark& b) {
      return std::tuple{a.track, a.start, b.end} < std::tuple{b.track, b.start, a.end};
    });
    for (std::size_t i = 1; i < marks_.size(); ++i) {  // the one before, or what is around it
      std::size_t around = i - 1;
      while (around != kNone && !covers(marks_[around], marks_[i].track, marks_[i].start))
        around = marks_[around].around;
      marks_[i].around = around;
    }
  }

  // The innermost around the start of an event; invalid: none.
  [[nodiscard]] EventId around(EventId event) const {
    const std::uint32_t track = trace_.tracks()[event.row].row;
    const std::int64_t ts = trace_.ts_ns()[event.row];
    const auto after =
        std::ranges::upper_bound(marks_, std::pair{track, ts}, {}, [](const Mark& mark) {
          return std::pair{mark.track, mark.start};
        });
    for (auto at = static_cast<std::size_t>(after - marks_.begin()) - 1; at != kNone;
         at = marks_[at].around)
      if (covers(marks_[at], track, ts)) return marks_[at].event;
    return {};
  }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  struct Mark {
    std::uint32_t track = 0;
    std::int64_t start = 0, end = 0;
    EventId event;
    std::size_t around = kNone;
  };
  static bool covers(const Mark& mark, std::uint32_t track, std::int64_t ts) {
    return mark.track == track && mark.start <= ts && ts < mark.end;
  }

  const Trace& trace_;
  std::vector<Mark> marks_;
};

class Summarizer {
 public:
  Summarizer(const Trace& trace, const Tree& tree, const TreeTextOptions& options)
      : trace_{trace}, tree_{tree}, options_{options}, root_{options.root}, annotations_{trace} {
    count_modules();
    branches_.push_back({});
    walk(NodeId{0}, NodeId{static_cast<std::uint32_t>(tree_.size())}, kTop);
    is_deferring_ = false;
    for (const auto& [node, module] : backward_) {
      const std::uint32_t place = place_of(module);
      is_backward_ = place != kTop;
      walk(node, tree_.end(node), place);
    }
    add_unlinked();
    sum_up();
  }

  TreeSummary take() && { return {std::move(branches_), all_ns_, shown_ns_, gpu_events_}; }

 private:
  struct Backward {
    NodeId node, module;
  };
  struct Open {
    std::uint32_t end = 0, branch = kTop;
  };

  void count_modules() {
    modules_before_.reserve(tree_.size() + 1);
    modules_before_.push_back(0);
    for (std::uint32_t row = 0; row < tree_.size(); ++row)
      modules_before_.push_back(modules_before_.back() + (tree_.is_module({row}) ? 1 : 0));
  }
  [[nodiscard]] bool holds_module(NodeId node) const {
    return modules_before_[tree_.end(node).row] > modules_before_[node.row];
  }
  [[nodiscard]] bool has_modules() const {
    return options_.layers.modules && modules_before_.back() > 0;
  }

  void walk(NodeId node, NodeId end, std::uint32_t base) {
    std::vector<Open> open = {{end.row, base}};
    std::uint32_t root_end = root_.takes_all() || base != kTop ? end.row : 0;
    while (node < end) {
      while (open.back().end <= node.row) open.pop_back();
      const EventId event = tree_.event(node);
      if (tree_.gpu_count(node) == 0 || defer_backward(node)) {
        node = tree_.end(node);
        continue;
      }
      if (node.row >= root_end) {
        if (!root_.matches(trace_.name(event))) {
          ++node.row;
          continue;
        }
        root_end = tree_.end(node).row;
      }
      const bool is_gpu_event = is_gpu(trace_.category(event));
      bool shown = is_shown(trace_, tree_, node, options_.layers);
      if (open.back().branch == kTop && is_outside(node, shown)) {
        open.push_back({tree_.end(node).row, outside(event)});
        shown = true;
      }
      if (shown) {
        const std::uint32_t branch = child_of(open.back().branch, node);
        if (tree_.is_module(node)) places_.insert_or_assign(node.row, branch);
        open.push_back({tree_.end(node).row, branch});
      }
      if (is_gpu_event) add_time(open.back().branch, duration_of(trace_, event));
      ++node.row;
    }
  }

  // Backward work whose forward op stands in a module waits until all modules have their place.
  bool defer_backward(NodeId node) {
    if (!is_deferring_ || !has_modules() || !tree_.is_op(node)) return false;
    const EventId forward = tree_.forward_of(tree_.event(node));
    if (!forward.valid() || !tree_.node(forward).valid()) return false;
    const NodeId module = tree_.nearest_module(tree_.node(forward));
    if (!module.valid()) return false;
    backward_.push_back({node, module});
    return true;
  }

  // Where a module stands. One without forward work of its own is put below the next around it.
  std::uint32_t place_of(NodeId module) {
    std::vector<NodeId> missing;
    std::uint32_t place = kTop;
    for (NodeId at = module; at.valid(); at = tree_.nearest_module(at)) {
      if (const auto found = places_.find(at.row); found != places_.end()) {
        place = found->second;
        break;
      }
      missing.push_back(at);
    }
    if (place == kTop && !root_.takes_all()) return kTop;
    for (auto at = missing.rbegin(); at != missing.rend(); ++at)
      places_[at->row] = place = child_of(place, *at);
    return place;
  }

  // Whether all of a node at the top belongs to no module, in a tree that has some.
  [[nodiscard]] bool is_outside(NodeId node, bool shown) const {
    return has_modules() && root_.takes_all() && !holds_module(node) &&
           (shown || tree_.is_op(node) || is_gpu(trace_.category(tree_.event(node))));
  }
  // The heading for what is in no module, and below it what the user marked there.
  std::uint32_t outside(EventId event) {
    if (outside_ == kTop) outside_ = heading(kTop, "outside of any module");
    const EventId launch = is_gpu(trace_.category(event)) ? tree_.launch_of(event) : event;
    const EventId mark = annotations_.around(launch.valid() ? launch : event);
    if (!mark.valid()) return outside_;
    const StringId name = trace_.names()[mark.row];
    return branch_at(outside_, name.row, {.name = trace_.name(mark)});
  }
  std::uint32_t heading(std::uint32_t parent, std::string_view title) {
    return add_branch({.parent = parent, .name = title});
  }

  std::uint32_t child_of(std::uint32_t parent, NodeId node) {
    const EventId event = tree_.event(node);
    Branch branch{.kind = kind_of(node), .name = trace_.name(event)};
    std::uint32_t name = trace_.names()[event.row].row;
    const std::uint32_t own_name = name;
    if (branch.kind == BranchKind::kModule)
      name = classes_.try_emplace(without_instance(branch.name), name).first->second;
    branch.is_in_module = branch.kind == BranchKind::kModule || branches_[parent].is_in_module;
    const std::uint32_t at = branch_at(parent, name, branch);
    if (at == parent) return at;
    ++branches_[at].calls;
    if (branch.kind == BranchKind::kModule && instances_.insert(key(at, own_name)).second)
      ++branches_[at].modules;
    return at;
  }
  [[nodiscard]] BranchKind kind_of(NodeId node) const {
    const Category category = trace_.category(tree_.event(node));
    if (category == Category::kPythonFunction)
      return tree_.is_module(node) ? BranchKind::kModule : BranchKind::kPython;
    if (category == Category::kCpuOp) return BranchKind::kOp;
    return is_gpu(category) ? BranchKind::kGpu : BranchKind::kCall;
  }

  static std::uint64_t key(std::uint32_t branch, std::uint32_t name) {
    return std::uint64_t{branch} << 32 | name;
  }
  // The parent itself where the tree may not get deeper.
  std::uint32_t branch_at(std::uint32_t parent, std::uint32_t name, Branch branch) {
    if (branches_[parent].depth >= options_.depth) return parent;
    branch.parent = parent;
    const auto [place, is_new] =
        found_.try_emplace(key(parent, name), static_cast<std::uint32_t>(branches_.size()));
    return is_new ? add_branch(branch) : place->second;
  }
  std::uint32_t add_branch(Branch branch) {
    branch.depth = branches_[branch.parent].depth + 1;
    branches_.push_back(std::move(branch));
    return static_cast<std::uint32_t>(branches_.size() - 1);
  }

  void add_time(std::uint32_t branch, std::int64_t ns) {
    Branch& into = branches_[branch];
    into.ns = plus_ns(into.ns, ns);
    if (is_backward_) into.backward_ns = plus_ns(into.backward_ns, ns);
  }

  // Work whose launch is not in the trace.
  void add_unlinked() {
    is_backward_ = false;
    for (const EventId event : trace_.all_events()) {
      if (!is_gpu(trace_.category(event))) continue;
      ++gpu_events_;
      all_ns_ = plus_ns(all_ns_, duration_of(trace_, event));
      if (tree_.is_linked(event)) continue;
      if (unlinked_ == kTop) unlinked_ = heading(kTop, "launched by no call in the trace");
      std::uint32_t into = unlinked_;
      if (options_.layers.gpu) {
        into = branch_at(unlinked_, trace_.names()[event.row].row,
                         {.kind = BranchKind::kGpu, .name = trace_.name(event)});
        ++branches_[into].calls;
      }
      add_time(into, duration_of(trace_, event));
    }
  }

  void sum_up() {
    branches_[kTop].ns = 0;  // in no line of its own: part of the rest
    for (std::size_t i = branches_.size() - 1; i > 0; --i) {  // children stand after their parents
      Branch& parent = branches_[branches_[i].parent];
      parent.ns = plus_ns(parent.ns, branches_[i].ns);
      parent.backward_ns = plus_ns(parent.backward_ns, branches_[i].backward_ns);
    }
    shown_ns_ = branches_[kTop].ns;
    if (const std::int64_t rest = minus_ns(all_ns_, shown_ns_); rest != 0 && shown_ns_ != 0)
      branches_[rest_ = heading(kTop, "in none of the lines above")].ns = rest;
    for (std::uint32_t i = 1; i < branches_.size(); ++i)
      branches_[branches_[i].parent].children.push_back(i);
    for (Branch& branch : branches_)
      std::ranges::stable_sort(branch.children, [this](std::uint32_t a, std::uint32_t b) {
        return std::pair{place_at_top(a), -branches_[a].ns} <
               std::pair{place_at_top(b), -branches_[b].ns};
      });
  }
  // What explains the rest of the time comes last.
  [[nodiscard]] int place_at_top(std::uint32_t branch) const {
    return branch == rest_ ? 3 : branch == unlinked_ ? 2 : branch == outside_ ? 1 : 0;
  }

  const Trace& trace_;
  const Tree& tree_;
  const TreeTextOptions& options_;
  const RootPattern root_;
  const Annotations annotations_;
  std::vector<std::uint32_t> modules_before_;                    // modules in nodes [0, i)
  std::vector<Branch> branches_;                                 // the first is the top
  std::unordered_map<std::uint64_t, std::uint32_t> found_;       // by key()
  std::unordered_map<std::string_view, std::uint32_t> classes_;  // of modules: name of the first
  std::unordered_map<std::uint32_t, std::uint32_t> places_;      // module node -> branch
  std::unordered_set<std::uint64_t> instances_;
  std::vector<Backward> backward_;
  bool is_deferring_ = true, is_backward_ = false;                // what is walked over now
  std::uint32_t outside_ = kTop, unlinked_ = kTop, rest_ = kTop;  // kTop: there is none
  std::int64_t all_ns_ = 0, shown_ns_ = 0;
  std::size_t gpu_events_ = 0;
};

}  // namespace

std::string_view without_instance(std::string_view module) {
  const auto last = module.find_last_not_of("0123456789");
  const bool is_numbered = last != module.npos && last + 1 < module.size() && module[last] == '_';
  return is_numbered ? module.substr(0, last) : module;
}

TreeSummary summarize_tree(const Trace& trace, const Tree& tree, const TreeTextOptions& options) {
  return Summarizer{trace, tree, options}.take();
}

}  // namespace tracelens
