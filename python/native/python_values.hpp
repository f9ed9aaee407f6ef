// python_values.hpp: values of the core as Python objects, and back.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <string_view>
#include <tracelens/value.hpp>
#include <unordered_map>

namespace tracelens::python {

// Text of a trace may be anything: bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] pybind11::str python_text(std::string_view text);
// Tuples, lists and dicts become those of Python.
[[nodiscard]] pybind11::object python_value(const Value& value);
// None, bool, int, float, str, tuple, list and dict, and numbers of NumPy. Throws TypeError for
// anything else, and for what is nested beyond all reason; integers beyond 64 bits become reals.
[[nodiscard]] Value value_of(pybind11::handle object);
// A str as UTF-8; lone surrogates, which a str may hold, become U+FFFD.
[[nodiscard]] std::string text_of(pybind11::handle text);

// Makes each text and each tuple that the core shares one object of Python, which others then share
// too: a table has few distinct ones.
class SharedValues {
 public:
  [[nodiscard]] pybind11::object text(std::string_view text);  // it must outlive this
  [[nodiscard]] pybind11::object value(const Value& value);    // likewise

 private:
  std::unordered_map<std::string_view, pybind11::object> texts_;
  std::unordered_map<const void*, pybind11::object> tuples_;  // by where their items lie
};

}  // namespace tracelens::python
