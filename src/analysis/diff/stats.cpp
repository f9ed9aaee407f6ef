#include "analysis/diff/stats.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tracelens/intervals.hpp>
#include <tracelens/table_text.hpp>
#include <utility>

#include "analysis/diff/modules.hpp"
#include "analysis/diff/names.hpp"
#include "analysis/kit/cells.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

class Collector {
 public:
  Collector(const DiffInput& input, Edition edition)
      : input_{input},
        counts_fills_{edition == Edition::kExtended},
        visited_(input.merged.size()) {}

  DiffStats collect() {
    // Depth first, children in stored order; a node that was dealt with is skipped with all below.
    std::vector<std::uint32_t> open(input_.merged.roots().rbegin(), input_.merged.roots().rend());
    while (!open.empty()) {
      const std::uint32_t id = open.back();
      open.pop_back();
      if (visited_[id]) continue;
      const MergedNode& node = input_.merged.node(id);
      if (!node.is_combined()) {
        add_one_sided(id, node);
        continue;
      }
      visited_[id] = true;
      const bool first = works(0, node), second = works(1, node);
      if (first && second) add_divergence(id, node);
      if (!first && !second) continue;
      const auto children = input_.merged.children(id);
      open.insert(open.end(), children.rbegin(), children.rend());
    }
    stats_.is_identical = rows_are_equal();
    return std::move(stats_);
  }

 private:
  [[nodiscard]] const Trace& trace(std::size_t side) const {
    return side == 0 ? input_.trace1 : input_.trace2;
  }
  [[nodiscard]] const Tree& tree(std::size_t side) const {
    return side == 0 ? input_.tree1 : input_.tree2;
  }
  static NodeId node_of(std::size_t side, const MergedNode& node) {
    return side == 0 ? node.first : node.second;
  }
  [[nodiscard]] bool works(std::size_t side, const MergedNode& node) const {
    const NodeId at = node_of(side, node);
    return at.valid() && tree(side).gpu_count(at) > 0;
  }
  [[nodiscard]] bool is_kernel(std::size_t side, NodeId node) const {
    const Category category = trace(side).category(tree(side).event(node));
    return category == Category::kKernel || category == Category::kGpuMemcpy ||
           (counts_fills_ && category == Category::kGpuMemset);
  }

  // The GPU events below a host node in the order their launches stand in the trace. A GPU event
  // has none below it; whether it counts itself is is_kernel()'s to say.
  void add_work_below(std::size_t side, NodeId node, std::vector<EventId>& events) const {
    if (is_gpu(trace(side).category(tree(side).event(node)))) return;
    const auto below = tree(side).gpu_events(node);
    const std::size_t begin = events.size();
    events.insert(events.end(), below.begin(), below.end());
    std::sort(
        events.begin() + static_cast<std::ptrdiff_t>(begin), events.end(),
        [&](EventId a, EventId b) {
          return std::pair{tree(side).launch_of(a), a} < std::pair{tree(side).launch_of(b), b};
        });
  }

  void add_divergence(std::uint32_t id, const MergedNode& node) {
    const bool kernels = is_kernel(0, node.first) && is_kernel(1, node.second);
    std::array<std::vector<std::uint32_t>, 2> parted;
    for (const std::uint32_t child : input_.merged.children(id)) {
      const MergedNode& below = input_.merged.node(child);
      if (below.is_combined()) continue;
      for (const std::size_t side : {0U, 1U})
        if (works(side, below)) parted[side].push_back(child);
    }
    if (parted[0].empty() && parted[1].empty() && !kernels) return;

    const std::string first = title(0, node.first), second = title(1, node.second);
    const std::uint32_t name = name_index(first == second ? first : first + " | " + second);
    for (const std::size_t side : {0U, 1U}) {
      std::vector<EventId> events;
      for (const std::uint32_t child : parted[side]) {
        const NodeId below = node_of(side, input_.merged.node(child));
        add_work_below(side, below, events);
        if (is_kernel(side, below)) events.push_back(tree(side).event(below));
        visited_[child] = true;
      }
      if (is_kernel(side, node_of(side, node)))
        events.push_back(tree(side).event(node_of(side, node)));
      add_rows(side, events, id, name);
    }
  }

  void add_one_sided(std::uint32_t id, const MergedNode& node) {
    const std::size_t side = node.first.valid() ? 0 : 1;
    visited_[id] = true;
    if (!works(side, node)) return;
    std::uint32_t name = kNoName;
    if (node.parent != MergedTree::kNone)
      name = name_index(title(side, node_of(side, input_.merged.node(node.parent))));
    std::vector<EventId> events;
    add_work_below(side, node_of(side, node), events);
    if (counts_fills_ && is_gpu(trace(side).category(tree(side).event(node_of(side, node)))))
      events.push_back(tree(side).event(node_of(side, node)));
    add_rows(side, events, node.parent, name);
  }

  void add_rows(std::size_t side, const std::vector<EventId>& events, std::uint32_t ancestor,
                std::uint32_t name) {
    std::vector<Interval> times;
    for (const EventId event : events)
      times.push_back({trace(side).ts_ns()[event.row], end_of(trace(side), event)});
    const std::int64_t busy = length(merge(std::move(times)));
    for (const EventId event : events) {
      const NodeId op = tree(side).nearest_op(tree(side).node(event));
      if (!op.valid()) {
        ++stats_.without_op;
        continue;
      }
      stats_.rows.push_back(
          {static_cast<std::uint8_t>(side), event, tree(side).event(op), busy, ancestor, name});
    }
  }

  [[nodiscard]] std::string title(std::size_t side, NodeId node) const {
    return node.valid() ? without_line_numbers(node_title(trace(side), tree(side), node))
                        : std::string{};
  }
  std::uint32_t name_index(const std::string& name) {
    const auto [found, is_new] =
        names_.try_emplace(name, static_cast<std::uint32_t>(stats_.ancestor_names.size()));
    if (is_new) stats_.ancestor_names.push_back(name);
    return found->second;
  }

  // Places in the trace are part of a row, so this holds for one file read twice only.
  [[nodiscard]] bool rows_are_equal() const {
    std::array<std::vector<const DiffStatsRow*>, 2> by_side;
    for (const DiffStatsRow& row : stats_.rows) by_side[row.side].push_back(&row);
    const Trace &a = input_.trace1, &b = input_.trace2;
    return !stats_.rows.empty() &&
           std::ranges::equal(by_side[0], by_side[1], [&](const auto* x, const auto* y) {
             return x->gpu == y->gpu && x->op == y->op && x->busy_ns == y->busy_ns &&
                    x->ancestor == y->ancestor && x->ancestor_name == y->ancestor_name &&
                    a.name(x->gpu) == b.name(y->gpu) && a.name(x->op) == b.name(y->op) &&
                    a.dur_ns()[x->gpu.row] == b.dur_ns()[y->gpu.row];
           });
  }

  static constexpr std::uint32_t kNoName = MergedTree::kNone;
  const DiffInput& input_;
  bool counts_fills_;
  std::vector<bool> visited_;
  std::map<std::string, std::uint32_t> names_;
  DiffStats stats_;
};

const ColumnSpec kColumns[] = {
    {"name", Kind::kText, "", "GPU event"},
    {"cpu_op_name", Kind::kText, "", "op that launched it"},
    {"cpu_op_uid", Kind::kInteger, "id", "position of the op in its trace"},
    {"source", Kind::kText, "", "trace1 or trace2"},
    {"Input Dims", Kind::kText, "", "shapes of the op's inputs"},
    {"Input Strides", Kind::kText, "", "strides of the op's inputs"},
    {"Input type", Kind::kText, "", "types of the op's inputs"},
    {"Concrete Inputs", Kind::kText, "", "values of the op's inputs that are no tensors"},
    {"kernel_time", Kind::kReal, "µs", "duration of the GPU event"},
    {"busy_time", Kind::kReal, "µs", "GPU busy with all this trace does where the two part"},
    {"lowest_common_ancestor_name", Kind::kText, "", "lowest call that both traces have"},
    {"lowest_common_ancestor_id", Kind::kInteger, "id", "its number in the merged tree"},
    {"gpu_op_uid", Kind::kInteger, "id", "position of the GPU event in its trace"},
    {"nn_module_stack", Kind::kText, "", "modules around the op, outermost first"},
    {"nn_module_parent", Kind::kText, "", "innermost of them"},
};
constexpr std::size_t kSourceColumn = 3;

std::string argument_text(const Value& value) {
  if (value.is_null()) return {};
  return value.is_text() ? value.as_text() : python_repr(value);
}

}  // namespace

DiffStats collect_diff_stats(const DiffInput& input, Edition edition) {
  return Collector{input, edition}.collect();
}

Table diff_stats_table(const DiffInput& input, const DiffStats& stats, bool keep_source) {
  std::vector<ColumnSpec> columns(std::begin(kColumns), std::end(kColumns));
  const bool fold = stats.is_identical && !keep_source;
  if (fold) columns.erase(columns.begin() + kSourceColumn);
  Table table{"diff_stats", "GPU work below every point where the two traces part", columns};
  ModuleStacks modules1{input.trace1, input.tree1}, modules2{input.trace2, input.tree2};
  RowCells row;
  for (const DiffStatsRow& each : stats.rows) {
    if (fold && each.side != 0) continue;
    const Trace& trace = each.side == 0 ? input.trace1 : input.trace2;
    const ModuleStack& modules = (each.side == 0 ? modules1 : modules2).of(each.op);
    const SignatureId signature = trace.signatures()[each.op.row];
    const auto argument = [&](const Value Signature::*part) {
      return signature.valid() ? argument_text(trace.signature(signature).*part) : std::string{};
    };
    row.clear();
    row.add(trace.name(each.gpu));
    row.add(trace.name(each.op));
    row.add(std::int64_t{each.op.row});
    if (!fold) row.add(each.side == 0 ? "trace1" : "trace2");
    row.add(argument(&Signature::dims));
    row.add(argument(&Signature::strides));
    row.add(argument(&Signature::types));
    row.add(argument(&Signature::concrete));
    row.add(us(duration_of(trace, each.gpu)));
    row.add(us(each.busy_ns));
    if (each.ancestor == MergedTree::kNone) {
      row.add(kMissing);
      row.add(kMissing);
    } else {
      row.add(stats.ancestor_names[each.ancestor_name]);
      row.add(std::int64_t{each.ancestor});
    }
    row.add(std::int64_t{each.gpu.row});
    row.add(modules.text);
    row.add(modules.innermost);
    table.append(row.cells());
  }
  return table;
}

}  // namespace tracelens
