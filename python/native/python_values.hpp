// python_values.hpp: values of the core as Python objects.
#pragma once

#include <pybind11/pybind11.h>

#include <string_view>
#include <tracelens/value.hpp>

namespace tracelens::python {

// Text of a trace may be anything: bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] pybind11::str python_text(std::string_view text);
// Tuples, lists and dicts become those of Python.
[[nodiscard]] pybind11::object python_value(const Value& value);

}  // namespace tracelens::python
