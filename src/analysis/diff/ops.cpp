#include "analysis/diff/ops.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tracelens/table_text.hpp>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analysis/diff/names.hpp"
#include "analysis/kit/cells.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

std::string both(const std::string& first, const std::string& second) {
  if (first == second || second.empty()) return first;
  return first.empty() ? second : first + " | " + second;
}

std::string argument_text(const Trace& trace, EventId op, const Value Signature::*part) {
  const SignatureId signature = trace.signatures()[op.row];
  if (!signature.valid()) return {};
  const Value& value = trace.signature(signature).*part;
  return value.is_null() ? std::string{} : python_repr(value);
}

// The lowest op above each node, itself included, that both traces have: its merged id.
std::vector<std::uint32_t> matched_ops(const DiffInput& input, std::size_t side) {
  const Tree& tree = side == 0 ? input.tree1 : input.tree2;
  std::vector<std::uint32_t> matched(tree.size(), MergedTree::kNone);
  for (std::uint32_t row = 0; row < tree.size(); ++row) {
    const NodeId node{row}, parent = tree.parent(node);
    const std::uint32_t own = input.merged.merged(side, node);
    if (tree.is_op(node) && own != MergedTree::kNone && input.merged.node(own).is_combined())
      matched[row] = own;
    else if (parent.valid())
      matched[row] = matched[parent.row];
  }
  return matched;
}

class ChangeCollector {
 public:
  ChangeCollector(const DiffInput& input, std::span<const Step> steps1,
                  std::span<const Step> steps2)
      : input_{input}, steps_{sorted(steps1), sorted(steps2)} {}

  std::vector<OpChange> collect() {
    learn_names();
    for (const std::size_t side : {0U, 1U}) add_side(side);
    std::vector<OpChange> changes;
    for (Group& group : groups_) {
      OpChange& change = group.change;
      if (change.kernels[0] == 0 && change.kernels[1] == 0) continue;
      if (steps_[0].size() >= kMinSteps && steps_[1].size() >= kMinSteps) {
        for (const std::size_t side : {0U, 1U})
          change.spread[side] = spread_of(group.per_step[side]);
        change.verdict = judge(change.spread[0], change.spread[1]);
      }
      if (change.difference_ns() == 0) change.verdict = ChangeVerdict::kSame;
      if (change.kernels[1] == 0) change.verdict = ChangeVerdict::kGone;
      if (change.kernels[0] == 0) change.verdict = ChangeVerdict::kNew;
      changes.push_back(std::move(change));
    }
    std::ranges::stable_sort(changes, std::greater<>{}, [](const OpChange& change) {
      return std::abs(change.difference_ns());
    });
    return changes;
  }

 private:
  static constexpr std::size_t kMinSteps = 3;
  struct Group {
    OpChange change;
    std::array<std::vector<std::int64_t>, 2> per_step;
  };

  static std::vector<Step> sorted(std::span<const Step> steps) {
    std::vector<Step> result(steps.begin(), steps.end());
    std::ranges::stable_sort(result, {}, &Step::ts_ns);
    return result;
  }

  void add_side(std::size_t side) {
    const Trace& trace = side == 0 ? input_.trace1 : input_.trace2;
    const Tree& tree = side == 0 ? input_.tree1 : input_.tree2;
    const std::vector<std::uint32_t> matched = matched_ops(input_, side);
    const bool is_hlo = trace.source().recorder == Recorder::kJax;
    // Calls seen in each group: pairs by their merged id, ops without a partner by their own.
    std::unordered_set<std::uint64_t> pairs, singles;
    for (const EventId event : tree.linked_gpu_events()) {
      const NodeId node = tree.node(event);
      const NodeId own_op = tree.nearest_op(node);
      std::uint32_t merged = matched[node.row];
      // The module around an HLO op is no op that its work could count for.
      if (is_hlo && own_op.valid() && input_.merged.merged(side, own_op) != merged)
        merged = MergedTree::kNone;
      const bool is_pair = merged != MergedTree::kNone;
      const std::size_t group = is_pair ? group_of_pair(merged) : group_of_one(side, own_op);
      Group& into = groups_[group];
      const std::int64_t ns = duration_of(trace, event);
      into.change.ns[side] = plus_ns(into.change.ns[side], ns);
      ++into.change.kernels[side];
      const std::uint32_t call = is_pair ? merged : own_op.row;
      if ((is_pair ? pairs : singles).insert(std::uint64_t{group} << 32 | call).second)
        ++into.change.calls[side];
      add_to_step(side, trace.ts_ns()[tree.launch_of(event).row], ns, into.per_step[side]);
    }
    for (Group& group : groups_) group.per_step[side].resize(steps_[side].size());
  }

  void add_to_step(std::size_t side, std::int64_t launch_ns, std::int64_t ns,
                   std::vector<std::int64_t>& per_step) const {
    const std::vector<Step>& steps = steps_[side];
    const auto after = std::ranges::upper_bound(steps, launch_ns, {}, &Step::ts_ns);
    if (after == steps.begin()) return;
    const auto step = static_cast<std::size_t>(after - steps.begin()) - 1;
    if (launch_ns >= end_of(steps[step].ts_ns, steps[step].dur_ns)) return;
    per_step.resize(steps.size());
    per_step[step] = plus_ns(per_step[step], ns);
  }

  struct RowKey {
    std::string name, dims, types;
    bool operator<(const RowKey& other) const {
      return std::tie(name, dims, types) < std::tie(other.name, other.dims, other.types);
    }
  };

  [[nodiscard]] RowKey key_of(std::size_t side, NodeId op) const {
    if (!op.valid()) return {"(outside any op)", "", ""};
    const Trace& trace = side == 0 ? input_.trace1 : input_.trace2;
    const Tree& tree = side == 0 ? input_.tree1 : input_.tree2;
    const EventId event = tree.event(op);
    return {op_title(trace, tree, op), argument_text(trace, event, &Signature::dims),
            argument_text(trace, event, &Signature::types)};
  }

  // Ops that were paired by more than their place are one op by two names, also where it stands
  // alone: a run that calls it more often has no other op.
  void learn_names() {
    for (std::uint32_t id = 0; id < input_.merged.size(); ++id) {
      const MergedNode& node = input_.merged.node(id);
      if (!node.is_combined() || !input_.tree1.is_op(node.first) || !is_renamed(node)) continue;
      const std::size_t row = group_of_pair(id);
      by_name_[0].try_emplace(key_of(0, node.first), row);
      by_name_[1].try_emplace(key_of(1, node.second), row);
    }
  }
  [[nodiscard]] bool is_renamed(const MergedNode& node) const {
    const std::string_view first = input_.trace1.name(input_.tree1.event(node.first)),
                           second = input_.trace2.name(input_.tree2.event(node.second));
    return first != second && comparable_name(input_.trace1, first, Strip::kFunction) ==
                                  comparable_name(input_.trace2, second, Strip::kFunction);
  }

  std::size_t group_of_pair(std::uint32_t merged) {
    const auto [known, is_new] = by_merged_.try_emplace(merged, 0);
    if (!is_new) return known->second;
    const MergedNode& node = input_.merged.node(merged);
    const RowKey first = key_of(0, node.first), second = key_of(1, node.second);
    return known->second = group({is_renamed(node) ? first.name : both(first.name, second.name),
                                  both(first.dims, second.dims), both(first.types, second.types)});
  }

  std::size_t group_of_one(std::size_t side, NodeId op) {
    RowKey key = key_of(side, op);
    if (const auto known = by_name_[side].find(key); known != by_name_[side].end())
      return known->second;
    return group(std::move(key));
  }

  std::size_t group(RowKey key) {
    const auto [found, is_new] = by_key_.try_emplace(key, groups_.size());
    if (is_new)
      groups_.push_back({{.name = std::move(key.name),
                          .dims = std::move(key.dims),
                          .types = std::move(key.types)},
                         {}});
    return found->second;
  }

  const DiffInput& input_;
  std::array<std::vector<Step>, 2> steps_;
  std::vector<Group> groups_;
  std::unordered_map<std::uint32_t, std::size_t> by_merged_;
  std::map<RowKey, std::size_t> by_key_;
  std::array<std::map<RowKey, std::size_t>, 2> by_name_;  // what one trace calls a row of both
};

}  // namespace

std::vector<OpChange> op_changes(const DiffInput& input, std::span<const Step> steps1,
                                 std::span<const Step> steps2) {
  return ChangeCollector{input, steps1, steps2}.collect();
}

Table ops_diff_table(std::span<const OpChange> changes) {
  const ColumnSpec columns[] = {
      {"name", Kind::kText, "", "lowest op that both traces have, or the op of one of them"},
      {"Input Dims", Kind::kText, "", "shapes of its inputs; of both traces where they differ"},
      {"Input type", Kind::kText, "", "types of its inputs"},
      {"calls_trace1", Kind::kInteger, "", "calls with GPU work"},
      {"calls_trace2", Kind::kInteger, "", "calls with GPU work"},
      {"kernels_trace1", Kind::kInteger, "", "GPU events"},
      {"kernels_trace2", Kind::kInteger, "", "GPU events"},
      {"time_trace1", Kind::kReal, "µs", "sum of their durations"},
      {"time_trace2", Kind::kReal, "µs", "sum of their durations"},
      {"diff", Kind::kReal, "µs", "time in trace2 minus time in trace1"},
      {"diff_pct", Kind::kReal, "%", "the same in percent of trace1"},
      {"share_of_change", Kind::kReal, "%", "of all changes, whatever their sign"},
      {"verdict", Kind::kText, "",
       "slower, faster, new, gone, same, noise, or unknown without steps"},
      {"step_mean_trace1", Kind::kReal, "µs", "mean time per step"},
      {"step_std_trace1", Kind::kReal, "µs", "standard deviation from step to step"},
      {"step_mean_trace2", Kind::kReal, "µs", "mean time per step"},
      {"step_std_trace2", Kind::kReal, "µs", "standard deviation from step to step"},
  };
  Table table{"ops_diff", "GPU time by op and shape in both traces, the largest change first",
              columns};
  double all = 0;
  for (const OpChange& change : changes) all += std::abs(us(change.difference_ns()));
  RowCells row;
  for (const OpChange& change : changes) {
    row.clear();
    for (const std::string* text : {&change.name, &change.dims, &change.types}) row.add(*text);
    for (const auto& pair : {change.calls, change.kernels})
      for (const std::int64_t count : pair) row.add(count);
    row.add(us(change.ns[0]));
    row.add(us(change.ns[1]));
    row.add(us(change.difference_ns()));
    row.add(percent_of(us(change.difference_ns()), us(change.ns[0])));
    row.add(percent_of(std::abs(us(change.difference_ns())), all));
    row.add(verdict_word(change.verdict));
    for (const StepSpread& spread : change.spread) {
      const bool known = spread.steps > 0;
      row.add(known ? std::optional{spread.mean / 1e3} : std::nullopt);
      row.add(known ? std::optional{spread.deviation / 1e3} : std::nullopt);
    }
    table.append(row.cells());
  }
  return table;
}

double common_share(std::span<const OpChange> changes) {
  double common_ns = 0, all_ns = 0;
  for (const OpChange& change : changes) {
    const auto ns = static_cast<double>(plus_ns(change.ns[0], change.ns[1]));
    all_ns += ns;
    if (change.kernels[0] > 0 && change.kernels[1] > 0) common_ns += ns;
  }
  return all_ns > 0 ? common_ns / all_ns : 1;
}

}  // namespace tracelens
