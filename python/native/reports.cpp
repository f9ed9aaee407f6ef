// reports.cpp: the report of a trace.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <tracelens/report.hpp>
#include <utility>
#include <vector>

#include "handle.hpp"
#include "parts.hpp"

namespace tracelens::python {
namespace py = pybind11;

void add_reports(py::module_& module) {
  module.def("report", [](const TraceHandle& handle) {
    std::vector<std::shared_ptr<Table>> tables;
    const py::gil_scoped_release unlocked;
    for (Table& table : make_report(handle.trace()).tables)
      tables.push_back(std::make_shared<Table>(std::move(table)));
    return tables;
  });
}

}  // namespace tracelens::python
