// module_rows.cpp: the GPU time of an nn.Module and of those below it.
#include <algorithm>
#include <utility>
#include <vector>

#include "analysis/kit/column_set.hpp"
#include "analysis/rows/tables.hpp"

namespace tracelens {
namespace {

struct Module {
  EventId event;
  NodeId node;
  std::string_view name = {};
  const Module* parent = nullptr;
  std::vector<Value> children = {};  // positions, by time
  std::int64_t busy_ns = 0;
  std::vector<GpuPosition> own = {};  // GPU events in no module below
  std::optional<std::int64_t> own_ns = {};
};

// The module and all below it, callers before callees. Pointers to parents stay valid.
std::vector<Module> modules_below(const OpInput& input, NodeId root) {
  const Tree& tree = input.tree;
  std::vector<NodeId> nodes;
  for (std::uint32_t i = root.row; i < tree.end(root).row; ++i)
    if (tree.is_module({i})) nodes.push_back({i});
  std::vector<Module> modules;
  modules.reserve(nodes.size());
  std::vector<Module*> open;  // the modules around the place at hand, the innermost last
  GpuPosition next = input.launches.first_position(root);
  // GPU events come in tree order: those before a module's first one are of the modules around.
  const auto take_until = [&](GpuPosition end) {
    for (; next < end; ++next)
      if (!open.empty()) open.back()->own.push_back(next);
  };
  const auto close_before = [&](std::uint32_t row) {
    while (!open.empty() && tree.end(open.back()->node).row <= row) {
      const NodeId node = open.back()->node;
      take_until(input.launches.first_position(node) + tree.gpu_count(node));
      open.pop_back();
    }
  };
  for (const NodeId node : nodes) {
    close_before(node.row);
    take_until(input.launches.first_position(node));
    Module& module = modules.emplace_back(Module{.event = tree.event(node),
                                                 .node = node,
                                                 .name = input.trace.name(tree.event(node)),
                                                 .parent = open.empty() ? nullptr : open.back(),
                                                 .busy_ns = input.launches.busy_ns(node)});
    if (!open.empty()) open.back()->children.emplace_back(std::int64_t{module.event.row});
    open.push_back(&module);
  }
  close_before(tree.end(root).row);
  return modules;
}

}  // namespace

Table module_rows(OpInput& input, EventId root) {
  ColumnSet<Module> columns{
      {{"UID", Kind::kInteger, "id", "position in the trace"},
       [](const Module& module) { return std::int64_t{module.event.row}; }},
      {{"name", Kind::kText, "", "module as traced"}, &Module::name},
      {{"parent", Kind::kInteger, "id", "the module right above; none at the top"},
       [](const Module& module) -> std::optional<std::int64_t> {
         if (module.parent == nullptr) return std::nullopt;
         return module.parent->event.row;
       }},
      {{"nn_module_children", Kind::kNested, "", "the modules right below"},
       [](const Module& module) { return Value::list(module.children); }},
      {{"GPU Time", Kind::kReal, "µs", "time in which at least one kernel below it ran"},
       [](const Module& module) { return us(module.busy_ns); }},
      {{"nn Parent GPU Time", Kind::kReal, "µs", "the same of the module above"},
       [](const Module& module) -> std::optional<double> {
         if (module.parent == nullptr) return std::nullopt;
         return us(module.parent->busy_ns);
       }},
      {{"Non-nn.Module GPU Time", Kind::kReal, "µs",
        "of a module with others below: time of what is in none of these; none: there is nothing"},
       [](const Module& module) -> std::optional<double> {
         if (!module.own_ns) return std::nullopt;
         return us(*module.own_ns);
       }}};
  Table table = columns.make_table("module_times", "GPU time of a module and of those below it");
  const NodeId node = input.tree.node(root);
  if (!node.valid() || !input.tree.is_module(node)) return table;
  std::vector<Module> modules = modules_below(input, node);
  for (Module& module : modules) {
    if (!module.children.empty() && !module.own.empty())
      module.own_ns = input.launches.busy_ns(module.own);
    columns.append(table, module);
  }
  return table;
}

std::vector<EventId> module_children(const Tree& tree, EventId event) {
  std::vector<EventId> children;
  const NodeId node = tree.node(event);
  if (!node.valid()) return children;
  for (std::uint32_t i = node.row + 1; i < tree.end(node).row;) {
    if (tree.is_module({i})) children.push_back(tree.event({i}));
    i = tree.is_module({i}) ? tree.end({i}).row : i + 1;
  }
  return children;
}

}  // namespace tracelens
