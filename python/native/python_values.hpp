// python_values.hpp: values of the core as Python objects, and back.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <string_view>
#include <tracelens/value.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "address_map.hpp"

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
// too: a table has few distinct ones. Lists and dicts, which a program may change, are never shared.
// What it is asked about must outlive it: things are known by where they lie.
class SharedValues {
 public:
  [[nodiscard]] pybind11::object text(std::string_view text);
  [[nodiscard]] pybind11::object value(const Value& value);
  // The same for a caller who makes thousands: new references; throw what pybind11 throws.
  [[nodiscard]] PyObject* made_text(std::string_view text);
  [[nodiscard]] PyObject* made(const Value& value);

 private:
  PyObject* text_at(const std::string& text);
  PyObject* shared_group(const Value& value);
  PyObject* made_sequence(const Value& value);
  PyObject* made_dict(const Value& value);
  const std::vector<pybind11::object>& keys(const std::vector<std::string>& keys);

  std::unordered_map<std::string_view, pybind11::object> texts_;
  AddressMap<PyObject*> at_;             // those of texts_, by where a text lies
  AddressMap<pybind11::object> groups_;  // tuples and lists of texts, by where their items lie
  AddressMap<std::unique_ptr<std::vector<pybind11::object>>> keys_;
};

// Making many objects at once would have the collector look at all of them again and again.
class PausedCollector {
 public:
  PausedCollector() : was_on_{PyGC_Disable() == 1} {}
  ~PausedCollector() {
    if (was_on_) PyGC_Enable();
  }
  PausedCollector(const PausedCollector&) = delete;
  PausedCollector& operator=(const PausedCollector&) = delete;

 private:
  bool was_on_;
};

}  // namespace tracelens::python
