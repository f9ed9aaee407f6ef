// trace.cpp: reading traces.
#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <tracelens/read_trace.hpp>

#include "handle.hpp"
#include "parts.hpp"

namespace tracelens::python {
namespace py = pybind11;

void add_trace(py::module_& module) {
  py::class_<TraceHandle, std::shared_ptr<TraceHandle>>(module, "Trace")
      .def("__len__", [](const TraceHandle& handle) { return handle.trace().size(); });
  module.def(
      "read",
      [](const std::string& path, int threads) {
        const py::gil_scoped_release unlocked;
        return std::make_shared<TraceHandle>(read_trace(path, {.threads = threads}));
      },
      py::arg("path"), py::kw_only{}, py::arg("threads") = 0);
}

}  // namespace tracelens::python
