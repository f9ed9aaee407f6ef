// owned.hpp: what Python's C functions give, checked.
//   const py::object made = stolen(PyObject_CallNoArgs(kind));   // a new reference, or null and an error
//   require(PyList_Append(list, made.ptr()) == 0);
#pragma once

#include <pybind11/pybind11.h>

namespace tracelens::python {

// Both throw what Python has set as its error.
[[nodiscard]] inline pybind11::object stolen(PyObject* object) {
  if (object == nullptr) throw pybind11::error_already_set{};
  return pybind11::reinterpret_steal<pybind11::object>(object);
}
inline void require(bool done) {
  if (!done) throw pybind11::error_already_set{};
}

}  // namespace tracelens::python
