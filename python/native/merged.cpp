// merged.cpp: two trees laid over each other, and the collectives of many ranks one by one.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <tracelens/collective_rows.hpp>
#include <tracelens/merged_traces.hpp>
#include <utility>
#include <vector>

#include "handle.hpp"
#include "parts.hpp"
#include "python_values.hpp"

namespace tracelens::python {
namespace py = pybind11;
namespace {

// One row per merged node: merged_id, uid1, uid2, merged_type, children, and the events that were
// compared with each other.
Table nodes_of(const MergedTraces& merged) {
  const ColumnSpec columns[] = {
      {"merged_id", Kind::kInteger, "id", "number of the node"},
      {"uid1", Kind::kInteger, "id", "event of the first trace"},
      {"uid2", Kind::kInteger, "id", "event of the second trace"},
      {"merged_type", Kind::kText, "", "combined, trace1 or trace2"},
      {"children", Kind::kNested, "", "numbers of the nodes below"},
      {"met_uid1", Kind::kInteger, "id", "event of the first trace that was compared"},
      {"met_uid2", Kind::kInteger, "id", "event of the second trace that was compared"}};
  Table table{"merged_tree", "Two call trees laid over each other", columns};
  const auto cell = [](EventId event) -> Cell {
    if (!event.valid()) return Missing{};
    return std::int64_t{event.row};
  };
  for (std::size_t id = 0; id < merged.nodes.size(); ++id) {
    const MergedTraces::Node& node = merged.nodes[id];
    std::vector<Value> children;
    for (const std::uint32_t child : merged.children_of(node))
      children.emplace_back(std::int64_t{child});
    const char* const kind = node.is_in_both()    ? "combined"
                             : node.first.valid() ? "trace1"
                                                  : "trace2";
    table.add_row(id, cell(node.first), cell(node.second), kind, Value::list(std::move(children)),
                  cell(node.met_first), cell(node.met_second));
  }
  return table;
}

// {(1 or 2, uid): the other trace's uid, or -1}
py::dict uid_map(const MergedTraces& merged) {
  py::dict map;
  for (int side = 0; side < 2; ++side)
    for (const auto& [event, other] : merged.others[static_cast<std::size_t>(side)])
      map[py::make_tuple(side + 1, event.row)] =
          py::int_{other.valid() ? static_cast<std::int64_t>(other.row) : -1};
  return map;
}

}  // namespace

void add_merged(py::module_& module) {
  py::class_<MergedTables, std::shared_ptr<MergedTables>>(module, "MergedTrees")
      .def_readonly("identical", &MergedTables::identical)
      .def_property_readonly("nodes",
                             [](const MergedTables& diff) {
                               const py::gil_scoped_release unlocked;
                               return std::make_shared<Table>(nodes_of(diff.merged));
                             })
      .def_property_readonly("roots", [](const MergedTables& diff) { return diff.merged.roots; })
      .def_property_readonly("uid_map",
                             [](const MergedTables& diff) { return uid_map(diff.merged); })
      .def_property_readonly(
          "diff_stats",
          [](const MergedTables& diff) { return std::make_shared<Table>(diff.diff_stats); })
      .def_property_readonly(
          "summary", [](const MergedTables& diff) { return std::make_shared<Table>(diff.summary); })
      .def_property_readonly("text",
                             [](const MergedTables& diff) { return python_text(diff.tree_text); })
      .def_property_readonly(
          "op_map_trace1", [](const MergedTables& diff) { return python_text(diff.op_map_trace1); })
      .def_property_readonly(
          "op_map_trace2", [](const MergedTables& diff) { return python_text(diff.op_map_trace2); })
      .def_property_readonly("op_map",
                             [](const MergedTables& diff) { return python_text(diff.op_map); });
  module.def(
      "merge_trees",
      [](const TreeHandle& first, const TreeHandle& second, bool prune_idle_roots, bool reference) {
        const py::gil_scoped_release unlocked;
        return std::make_shared<MergedTables>(
            merge_with_tables(*first.trace, *first.tree, *second.trace, *second.tree,
                              {.edition = reference ? Edition::kReference : Edition::kExtended,
                               .prune_idle_roots = prune_idle_roots}));
      },
      py::arg("first"), py::arg("second"), py::kw_only{}, py::arg("prune_idle_roots") = false,
      py::arg("reference") = true);
  module.def(
      "collective_rows",
      [](const std::vector<std::string>& paths,
         const std::vector<std::pair<std::string, std::string>>& patterns, int threads,
         bool reference) {
        const py::gil_scoped_release unlocked;
        CollectiveRowOptions options{
            .threads = threads, .edition = reference ? Edition::kReference : Edition::kExtended};
        for (const auto& [regex, collective] : patterns)
          options.patterns.push_back({regex, collective});
        std::vector<RankFile> files;
        for (const std::string& path : paths) files.push_back({path});
        return std::make_shared<Table>(collective_rows(files, options));
      },
      py::arg("paths"), py::kw_only{},
      py::arg("patterns") = std::vector<std::pair<std::string, std::string>>{},
      py::arg("threads") = 0, py::arg("reference") = true);
}

}  // namespace tracelens::python
