// errors.cpp: what the core throws, as exceptions of Python.
#include <pybind11/pybind11.h>

#include <exception>
#include <tracelens/error.hpp>

#include "parts.hpp"

namespace tracelens::python {

void add_errors(pybind11::module_& module) {
  // The message is the very sentence that the command line prints behind "error: ".
  pybind11::register_exception<Error>(module, "Error");
}

}  // namespace tracelens::python
