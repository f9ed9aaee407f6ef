// What took the place of what, and how often.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include "analysis/diff/names.hpp"
#include "analysis/diff/ops.hpp"
#include "analysis/kit/cells.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

constexpr const char* kTopLevel = "(top level)";

// Whether two lists hold the same names, however often.
bool are_same_names(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::set<std::string>(a.begin(), a.end()) == std::set<std::string>(b.begin(), b.end());
}

class SubstitutionFinder {
 public:
  explicit SubstitutionFinder(const DiffInput& input) : input_{input} {}

  std::vector<Substitution> find(std::vector<ExchangedSubtree>* exchanged) {
    find_modules();
    // Top down; below a substitution nothing is looked for, it would be counted twice.
    std::vector<std::uint32_t> open;
    const auto look_at = [&](std::span<const std::uint32_t> siblings, const std::string& where) {
      std::map<std::uint32_t, std::vector<std::uint32_t>> gaps;
      for (const std::uint32_t id : siblings) {
        if (!input_.merged.node(id).is_combined())
          gaps[input_.merged.node(id).gap].push_back(id);
        else if (is_exchange(id))
          add(where, {&id, 1});
        else
          open.push_back(id);
      }
      for (const auto& [gap, ids] : gaps) add(where, ids);
    };
    look_at(input_.merged.roots(), kTopLevel);
    while (!open.empty()) {
      const std::uint32_t id = open.back();
      open.pop_back();
      look_at(input_.merged.children(id), place_of(id));
    }
    std::vector<Substitution> result;
    for (auto& [key, found] : found_) result.push_back(std::move(found));
    std::ranges::stable_sort(result, std::greater<>{}, [](const Substitution& each) {
      return std::abs(each.ns[1] - each.ns[0]);
    });
    if (exchanged != nullptr) {
      std::map<std::array<std::string, 3>, std::size_t> places;
      for (std::size_t i = 0; i < result.size(); ++i)
        places[{result[i].where, result[i].removed, result[i].added}] = i;
      for (const auto& [side, node, key] : exchanged_)
        exchanged->push_back({.substitution = places.at(*key), .side = side, .node = node});
    }
    return result;
  }

 private:
  void find_modules() {
    if (input_.trace1.source().recorder != Recorder::kJax) return;
    for (const std::uint32_t root : input_.merged.roots())
      if (const MergedNode& node = input_.merged.node(root); node.is_combined())
        modules_of_both_.insert(op_title(input_.trace1, input_.tree1, node.first));
  }

  // The call that stands for a merged node; that of a launch is its op.
  [[nodiscard]] std::string place_of(std::uint32_t id) const {
    const auto launches = [&](std::uint32_t at) {
      const MergedNode& node = input_.merged.node(at);
      return node.first.valid() &&
             is_runtime(input_.trace1.category(input_.tree1.event(node.first)));
    };
    while (launches(id) && input_.merged.node(id).parent != MergedTree::kNone)
      id = input_.merged.node(id).parent;
    return without_line_numbers(
        op_title(input_.trace1, input_.tree1, input_.merged.node(id).first));
  }

  // Two that were paired although they have different names.
  [[nodiscard]] bool is_exchange(std::uint32_t id) const {
    const MergedNode& node = input_.merged.node(id);
    const std::string first = node_title(input_.trace1, input_.tree1, node.first),
                      second = node_title(input_.trace2, input_.tree2, node.second);
    return comparable_name(input_.trace1, first, Strip::kFunction) !=
           comparable_name(input_.trace2, second, Strip::kFunction);
  }

  // A longer recording has more of the same at the top: more runs of a JAX module replace nothing.
  [[nodiscard]] bool is_repetition(const std::vector<std::string>& removed,
                                   const std::vector<std::string>& added) const {
    if (are_same_names(removed, added)) return true;
    const auto ran = [this](const std::string& name) { return modules_of_both_.contains(name); };
    return std::ranges::all_of(removed, ran) && std::ranges::all_of(added, ran);
  }

  void add(const std::string& where, std::span<const std::uint32_t> ids) {
    std::vector<std::string> removed, added;
    std::array<std::int64_t, 2> ns = {};
    for (const std::uint32_t id : ids) {
      const MergedNode& node = input_.merged.node(id);
      if (node.first.valid()) {
        add_titles(input_.trace1, input_.tree1, node.first, removed);
        ns[0] = plus_ns(ns[0], input_.tree1.gpu_sum_ns(node.first));
      }
      if (node.second.valid()) {
        add_titles(input_.trace2, input_.tree2, node.second, added);
        ns[1] = plus_ns(ns[1], input_.tree2.gpu_sum_ns(node.second));
      }
    }
    // Launches of the same kernels under two names of the launch are no substitution.
    if (removed == added || (ns[0] == 0 && ns[1] == 0)) return;
    if (where == kTopLevel && is_repetition(removed, added)) return;
    const auto key = found_.try_emplace(std::array{where, joined(removed), joined(added)}).first;
    Substitution& into = key->second;
    into.where = where;
    into.removed = joined(removed);
    into.added = joined(added);
    ++into.count;
    for (const std::size_t side : {0U, 1U}) into.ns[side] = plus_ns(into.ns[side], ns[side]);
    if (removed.empty() || added.empty() || !are_ops(ids)) return;
    for (const std::uint32_t id : ids) {
      const MergedNode& node = input_.merged.node(id);
      if (node.first.valid()) exchanged_.push_back({0, node.first, &key->first});
      if (node.second.valid()) exchanged_.push_back({1, node.second, &key->first});
    }
  }

  [[nodiscard]] bool are_ops(std::span<const std::uint32_t> ids) const {
    return std::ranges::all_of(ids, [this](std::uint32_t id) {
      const MergedNode& node = input_.merged.node(id);
      return (!node.first.valid() || input_.tree1.is_op(node.first)) &&
             (!node.second.valid() || input_.tree2.is_op(node.second));
    });
  }

  // A launch is told by its kernels.
  static void add_titles(const Trace& trace, const Tree& tree, NodeId node,
                         std::vector<std::string>& titles) {
    if (!is_runtime(trace.category(tree.event(node)))) {
      titles.push_back(without_line_numbers(op_title(trace, tree, node)));
      return;
    }
    for (const EventId event : tree.gpu_events(node))
      titles.push_back(op_title(trace, tree, tree.node(event)));
  }

  // Names in order; a run of equal ones is counted, a long list cut.
  static std::string joined(const std::vector<std::string>& names) {
    constexpr std::size_t kMaxNames = 8;
    std::string text;
    std::size_t shown = 0;
    for (std::size_t i = 0; i < names.size();) {
      std::size_t end = i + 1;
      while (end < names.size() && names[end] == names[i]) ++end;
      if (++shown > kMaxNames) return text + fmt::format(" + {} more", names.size() - i);
      if (!text.empty()) text += " + ";
      text += end - i > 1 ? fmt::format("{} x {}", end - i, names[i]) : names[i];
      i = end;
    }
    return text;
  }

  const DiffInput& input_;
  std::set<std::string> modules_of_both_;  // of JAX profiles
  std::map<std::array<std::string, 3>, Substitution> found_;
  struct Exchanged {
    std::size_t side = 0;
    NodeId node;
    const std::array<std::string, 3>* key = nullptr;  // in found_
  };
  std::vector<Exchanged> exchanged_;
};

}  // namespace

std::vector<Substitution> substitutions(const DiffInput& input,
                                        std::vector<ExchangedSubtree>* exchanged) {
  return SubstitutionFinder{input}.find(exchanged);
}

Table substitutions_table(std::span<const Substitution> found) {
  const ColumnSpec columns[] = {
      {"where", Kind::kText, "", "call below which the traces part"},
      {"trace1", Kind::kText, "", "what the first trace has there; empty: nothing"},
      {"trace2", Kind::kText, "", "what the second has instead"},
      {"count", Kind::kInteger, "", "how often"},
      {"time_trace1", Kind::kReal, "µs", "GPU time of what went, in total"},
      {"time_trace2", Kind::kReal, "µs", "GPU time of what came, in total"},
      {"diff", Kind::kReal, "µs", "what the exchange costs; negative: saves"},
  };
  Table table{"substitutions", "What took the place of what, the costliest first", columns};
  for (const Substitution& each : found)
    table.add_row(each.where, each.removed, each.added, each.count, us(each.ns[0]), us(each.ns[1]),
                  us(minus_ns(each.ns[1], each.ns[0])));
  return table;
}

}  // namespace tracelens
