// arrow.cpp: tables and events as capsules of Arrow's C interface.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <tracelens/arrow.hpp>
#include <vector>

#include "errors.hpp"
#include "handle.hpp"
#include "parts.hpp"

namespace tracelens::python {
namespace py = pybind11;
namespace {

constexpr const char* kCapsuleName = "arrow_array_stream";

// A consumer takes the stream out and marks it as released; one that nobody took goes with the capsule.
void drop_capsule(PyObject* capsule) {
  auto* const stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule, kCapsuleName));
  if (stream == nullptr) return PyErr_Clear();
  if (stream->release != nullptr) stream->release(stream);
  delete stream;
}

template <class Export>
py::object capsule_of(const Export& export_to) {
  auto stream = std::make_unique<ArrowArrayStream>();
  *stream = {};
  export_to(stream.get());
  PyObject* const capsule = PyCapsule_New(stream.get(), kCapsuleName, &drop_capsule);
  if (capsule == nullptr) {
    stream->release(stream.get());
    throw py::error_already_set{};
  }
  static_cast<void>(stream.release());
  return py::reinterpret_steal<py::object>(capsule);
}

}  // namespace

void add_arrow(py::module_& module) {
  module.def(
      "table_stream",
      [](const std::shared_ptr<Table>& table) {
        return capsule_of([&](ArrowArrayStream* out) { export_table(table, out); });
      },
      py::arg("table"));
  module.def(
      "event_stream",
      [](const TraceHandle& trace, const std::vector<std::string>& columns) {
        return capsule_of([&](ArrowArrayStream* out) {
          or_usage_error([&] { export_events(trace.shared_trace(), columns, out); });
        });
      },
      py::arg("trace"), py::arg("columns"));
}

}  // namespace tracelens::python
