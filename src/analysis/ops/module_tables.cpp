#include "analysis/ops/module_tables.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "analysis/gpu/busy_time.hpp"
#include "analysis/kit/column_set.hpp"
#include "analysis/kit/group_rows.hpp"
#include "analysis/ops/group_columns.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

constexpr const char* kOwnTime = "GPU time of the ops' own kernels";

// Where the work of a node belongs.
struct Place {
  NodeId module;  // invalid: in no module
  bool backward = false;
};

class Modules {
 public:
  explicit Modules(const OpInput& input) : trace_{input.trace}, tree_{input.tree} {}

  [[nodiscard]] Place of(NodeId node) const {
    if (const NodeId module = tree_.nearest_module(node); module.valid()) return {module, false};
    for (; node.valid(); node = tree_.parent(node)) {
      const EventId forward = tree_.forward_of(tree_.event(node));
      if (forward.valid() && tree_.node(forward).valid())
        return {tree_.nearest_module(tree_.node(forward)), true};
    }
    return {};
  }
  [[nodiscard]] bool any() const {
    for (std::uint32_t node = 0; node < tree_.size(); ++node)
      if (tree_.is_module({node})) return true;
    return false;
  }
  // "nn.Module: Linear_12"
  [[nodiscard]] std::string_view name(NodeId module) const {
    return module.valid() ? trace_.name(tree_.event(module)) : kNoModule;
  }

 private:
  const Trace& trace_;
  const Tree& tree_;
};

// --- modules ---

struct ModuleTime {
  std::string name, parent;
  std::int64_t calls = 0, kernels = 0;
  std::int64_t forward_ns = 0, own_ns = 0, backward_ns = 0;
};

class ModuleTable {
 public:
  ModuleTable(OpInput& input, const Modules& modules) : input_{input}, modules_{modules} {}

  Table make() {
    add_calls();
    add_backward();
    std::vector<ModuleTime> times = std::move(times_).take();
    std::ranges::stable_sort(times, std::ranges::greater{}, [](const ModuleTime& time) {
      return plus_ns(time.forward_ns, time.backward_ns);
    });
    const ColumnSpec columns[] = {
        {"module", Kind::kText, "", "nn.Module instance as the profiler names it"},
        {"parent module", Kind::kText, "", "the module that called it; NA for the outermost"},
        {"calls", Kind::kInteger, "", "calls of the module"},
        {"GPU time ms", Kind::kReal, "ms",
         "time in which a kernel launched below its calls ran, summed over the calls"},
        {"own GPU time ms", Kind::kReal, "ms",
         "the same of the kernels that no module inside it launched"},
        {"backward GPU time ms", Kind::kReal, "ms", "GPU time of the backward ops of its own ops"},
        {"kernels", Kind::kInteger, "", "GPU events launched below its calls"},
        {"percent of GPU time", Kind::kReal, "%",
         "GPU time and backward GPU time, as a share of the GPU time of all ops; a module counts in "
         "its parents too"}};
    Table table{"modules", "GPU time by nn.Module, the costliest first", columns};
    std::int64_t all_ns = 0;
    for (const Launcher& op : input_.launches.launchers()) all_ns = plus_ns(all_ns, op.direct_ns);
    for (const ModuleTime& time : times)
      table.add_row(time.name, time.parent, time.calls, ms(time.forward_ns), ms(time.own_ns),
                    ms(time.backward_ns), time.kernels,
                    percent_of(ms(plus_ns(time.forward_ns, time.backward_ns)), ms(all_ns)));
    return table;
  }

 private:
  void add_calls() {
    const Tree& tree = input_.tree;
    std::vector<NodeId> path;  // open modules, outermost first
    std::vector<EventId> own;
    for (std::uint32_t row = 0; row < tree.size(); ++row) {
      const NodeId node{row};
      while (!path.empty() && tree.end(path.back()).row <= row) path.pop_back();
      if (!tree.is_module(node)) continue;
      ModuleTime& time = at(node, path.empty() ? NodeId{} : path.back());
      ++time.calls;
      time.kernels += tree.gpu_count(node);
      time.forward_ns = plus_ns(time.forward_ns, busy(tree.gpu_events(node)));
      own_events(node, own);
      time.own_ns = plus_ns(time.own_ns, busy(own));
      path.push_back(node);
    }
  }

  // The GPU events below a module that are in none of the modules inside it.
  void own_events(NodeId module, std::vector<EventId>& own) const {
    const Tree& tree = input_.tree;
    own.clear();
    for (std::uint32_t row = module.row + 1; row < tree.end(module).row;) {
      if (tree.is_module({row})) {
        row = tree.end({row}).row;
        continue;
      }
      if (is_gpu(input_.trace.category(tree.event({row})))) own.push_back(tree.event({row}));
      ++row;
    }
  }

  void add_backward() {
    for (const Launcher& op : input_.launches.launchers()) {
      const Place place = modules_.of(op.node);
      if (!place.backward) continue;
      // The forward module and all around it.
      for (NodeId module = place.module; module.valid();) {
        const NodeId parent = input_.tree.nearest_module(module);
        ModuleTime& time = at(module, parent);
        time.backward_ns = plus_ns(time.backward_ns, op.direct_ns);
        module = parent;
      }
    }
  }

  [[nodiscard]] std::int64_t busy(std::span<const EventId> events) {
    intervals_.clear();
    for (const EventId event : events) intervals_.push_back(interval_of(input_.trace, event));
    return length(merge(intervals_));
  }

  ModuleTime& at(NodeId module, NodeId parent) {
    const auto name_row = [&](NodeId node) {
      return node.valid() ? input_.trace.names()[input_.tree.event(node).row].row : StringId{}.row;
    };
    return times_.at({name_row(module), name_row(parent)}, [&] {
      return ModuleTime{.name = std::string{modules_.name(module)},
                        .parent = std::string{modules_.name(parent)}};
    });
  }

  OpInput& input_;
  const Modules& modules_;
  Grouped<ModuleTime> times_;
  std::vector<Interval> intervals_;
};

// --- what the modules of a class spend their time on ---

struct Share {
  std::string what, module;
  std::string_view pass;  // "forward", or "backward" of ops of the module
  std::int64_t count = 0, direct_ns = 0, subtree_ns = 0;
  std::vector<std::uint32_t> categories = {};  // distinct
  RunningShare::Cells share = {};

  [[nodiscard]] double direct_us() const { return us(direct_ns); }
  [[nodiscard]] double subtree_us() const { return us(subtree_ns); }
  [[nodiscard]] double direct_ms() const { return ms(direct_ns); }
};

class ModuleShares {
 public:
  ModuleShares(OpInput& input, const Modules& modules) : input_{input}, modules_{modules} {}

  // Sums by `what_of` (an integer with the text `text_of`), class of module and pass.
  template <class WhatOf, class TextOf>
  std::vector<Share> shares(std::span<const Launcher> launchers, WhatOf what_of, TextOf text_of) {
    Grouped<Share> grouped;
    std::int64_t all_ns = 0;
    for (const Launcher& op : launchers) {
      const Place place = modules_.of(op.node);
      const std::uint32_t module = input_.modules.of(place.module);
      Share& share = grouped.at({what_of(op), module, place.backward ? 1U : 0U}, [&] {
        return Share{.what = std::string{text_of(op)},
                     .module = input_.modules.text(module),
                     .pass = place.backward ? "backward" : "forward"};
      });
      ++share.count;
      share.direct_ns = plus_ns(share.direct_ns, op.direct_ns);
      share.subtree_ns = plus_ns(share.subtree_ns, op.subtree_ns);
      if (std::ranges::find(share.categories, op.category) == share.categories.end())
        share.categories.push_back(op.category);
      all_ns = plus_ns(all_ns, op.direct_ns);
    }
    std::vector<Share> shares = std::move(grouped).take();
    std::ranges::stable_sort(shares, std::ranges::greater{}, &Share::direct_ns);
    RunningShare running{ms(all_ns)};
    for (Share& share : shares) share.share = running.next(share.direct_ms());
    return shares;
  }

 private:
  OpInput& input_;
  const Modules& modules_;
};

const ColumnSpec kPass{"pass", Kind::kText, "", "forward, or backward of ops of the module"};

Table ops_by_module(OpInput& input, ModuleShares& classes) {
  ColumnSet<Share> columns{
      {{"name", Kind::kText, "", "op name as traced"}, &Share::what},
      {kParentModule, &Share::module},
      {kPass, &Share::pass},
      {{"total_direct_kernel_time_sum", Kind::kReal, "µs", kOwnTime}, &Share::direct_us},
      {{"total_subtree_kernel_time_sum", Kind::kReal, "µs",
        "GPU time of all kernels below the ops; nested ops count again"},
       &Share::subtree_us},
      {{"total_direct_kernel_time_ms", Kind::kReal, "ms", kOwnTime}, &Share::direct_ms},
      {{"Count", Kind::kInteger, "", "calls that launched GPU work"}, &Share::count},
      {{"Categories", Kind::kNested, "", "categories of these calls, in alphabetical order"},
       [&input](const Share& share) { return input.categories.sorted_texts(share.categories); }}};
  add_share_columns(columns, kOwnTime);
  Table table = columns.make_table("ops_by_module",
                                   "GPU time by op and class of nn.Module, the costliest first");
  for (Share& share : classes.shares(
           input.launches.launchers(),
           [&](const Launcher& op) { return input.trace.names()[op.event.row].row; },
           [&](const Launcher& op) { return input.trace.name(op.event); }))
    columns.append(table, share);
  return table;
}

Table categories_by_module(OpInput& input, ModuleShares& classes) {
  ColumnSet<Share> columns{
      {{"op category", Kind::kText, "", "what kind of work the ops do"}, &Share::what},
      {kParentModule, &Share::module},
      {kPass, &Share::pass},
      {{"Count", Kind::kInteger, "", "ops that launched GPU work"}, &Share::count},
      {{"total_direct_kernel_time_ms", Kind::kReal, "ms", kOwnTime}, &Share::direct_ms}};
  add_share_columns(columns, kOwnTime);
  Table table =
      columns.make_table("categories_by_module",
                         "GPU time by category of op and class of nn.Module, the costliest first");
  for (Share& share : classes.shares(
           input.launches.parts(), [](const Launcher& op) { return op.category; },
           [&](const Launcher& op) { return input.categories.text(op.category); }))
    columns.append(table, share);
  return table;
}

}  // namespace

std::vector<Table> module_tables(OpInput& input) {
  const Modules modules{input};
  if (!modules.any()) return {};
  ModuleShares classes{input, modules};
  std::vector<Table> tables;
  tables.push_back(ModuleTable{input, modules}.make());
  tables.push_back(ops_by_module(input, classes));
  tables.push_back(categories_by_module(input, classes));
  return tables;
}

}  // namespace tracelens
