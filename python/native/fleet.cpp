// fleet.cpp: one table out of those of many traces, and how many processes may read these.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tracelens/collectives.hpp>
#include <tracelens/machine.hpp>
#include <tracelens/table.hpp>
#include <utility>
#include <vector>

#include "parts.hpp"

namespace tracelens::python {
namespace py = pybind11;
namespace {

using Parts = std::vector<std::pair<std::string, std::shared_ptr<Table>>>;

// Whole numbers and others make others; any two kinds else are of no one kind.
Kind joined(Kind a, Kind b) {
  if (a == b) return a;
  const auto is_number = [](Kind kind) { return kind == Kind::kInteger || kind == Kind::kReal; };
  return is_number(a) && is_number(b) ? Kind::kReal : Kind::kNested;
}

// The columns of all parts, each where it first stands, behind one that tells the parts apart.
std::vector<ColumnSpec> columns_of(const ColumnSpec& label, const Parts& parts) {
  std::vector<ColumnSpec> all{label};
  std::map<std::string, std::size_t, std::less<>> places;
  for (const auto& [text, part] : parts) {
    for (const Table::Column& column : part->columns()) {
      const auto [place, is_new] = places.try_emplace(column.spec().name, all.size());
      if (is_new) all.push_back(column.spec());
      ColumnSpec& spec = all[place->second];
      spec.kind = joined(spec.kind, column.spec().kind);
    }
  }
  return all;
}

// Rows in the order of the parts; cells of columns that a part does not have are missing.
Table stacked(const std::string& label, const std::string& about, const Parts& parts) {
  if (parts.empty()) throw py::value_error{"no tables"};
  const std::vector<ColumnSpec> specs = columns_of({label, Kind::kText, "", about}, parts);
  std::map<std::string_view, std::size_t> places;
  for (std::size_t i = 1; i < specs.size(); ++i) places[specs[i].name] = i;
  Table all{parts.front().second->name(), parts.front().second->description(), specs};
  for (const auto& [text, part] : parts) {
    std::vector<std::size_t> target;
    for (const Table::Column& column : part->columns())
      target.push_back(places.at(column.spec().name));
    for (std::size_t i = 0; i < part->rows(); ++i) {
      std::vector<Cell> row(specs.size());
      row[0] = text;
      for (std::size_t k = 0; k < target.size(); ++k) row[target[k]] = part->cell(i, k);
      all.append(row);
    }
  }
  return all;
}

}  // namespace

void add_fleet(py::module_& module) {
  module.def("stack_tables", &stacked, py::arg("label"), py::arg("about"), py::arg("parts"),
             py::call_guard<py::gil_scoped_release>{});
  module.def("format_by_name", &format_by_name, py::arg("path"));
  module.def("usable_cpus", &usable_cpus);
}

}  // namespace tracelens::python
