#include "python_values.hpp"

#include <cstddef>
#include <cstdint>
#include <tracelens/json.hpp>
#include <utility>
#include <vector>

namespace tracelens::python {
namespace py = pybind11;
namespace {

std::vector<Value> values_of(py::handle sequence, int depth);
Value value_at(py::handle object, int depth) {
  PyObject* const held = object.ptr();
  if (depth > kMaxJsonDepth) throw py::type_error{"nested too deeply"};
  if (held == Py_None) return {};
  if (PyBool_Check(held)) return Value{held == Py_True};
  if (PyLong_Check(held)) {
    int overflow = 0;
    const long long whole = PyLong_AsLongLongAndOverflow(held, &overflow);
    if (overflow == 0) return Value{static_cast<std::int64_t>(whole)};
    const double real = PyLong_AsDouble(held);
    if (real == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set{};
    return Value{real};
  }
  if (PyFloat_Check(held)) return Value{PyFloat_AS_DOUBLE(held)};
  if (PyUnicode_Check(held)) return Value{text_of(object)};
  if (PyTuple_Check(held)) return Value::tuple(values_of(object, depth));
  if (PyList_Check(held)) return Value::list(values_of(object, depth));
  if (PyDict_Check(held)) {
    std::vector<std::string> keys;
    std::vector<Value> items;
    for (const auto& [key, item] : py::reinterpret_borrow<py::dict>(object)) {
      keys.push_back(PyUnicode_Check(key.ptr()) ? text_of(key) : text_of(py::str(key)));
      items.push_back(value_at(item, depth + 1));
    }
    return Value::dict(std::move(keys), std::move(items));
  }
  if (py::hasattr(object, "item") && py::hasattr(object, "dtype"))  // a number of NumPy
    return value_at(object.attr("item")(), depth + 1);
  throw py::type_error{"expected None, bool, int, float, str, tuple, list or dict, not " +
                       std::string{Py_TYPE(held)->tp_name}};
}

std::vector<Value> values_of(py::handle sequence, int depth) {
  std::vector<Value> values;
  for (const py::handle item : sequence) values.push_back(value_at(item, depth + 1));
  return values;
}

// The one place that walks a Value; `text` and `tuple` decide what is shared.
template <class Shared>
py::object made(const Value& value, Shared& shared) {
  const std::vector<Value>& items = value.items();
  switch (value.kind()) {
    case Value::Kind::kNull:
      return py::none{};
    case Value::Kind::kBool:
      return py::bool_{value.as_bool()};
    case Value::Kind::kInt:
      return py::int_{value.as_int()};
    case Value::Kind::kReal:
      return py::float_{value.as_real()};
    case Value::Kind::kText:
      return shared.text(value.as_text());
    case Value::Kind::kTuple: {
      py::tuple tuple{items.size()};
      for (std::size_t i = 0; i < items.size(); ++i) tuple[i] = shared.value(items[i]);
      return tuple;
    }
    case Value::Kind::kList: {
      py::list list{items.size()};
      for (std::size_t i = 0; i < items.size(); ++i) list[i] = shared.value(items[i]);
      return list;
    }
    case Value::Kind::kDict: {
      py::dict dict;
      for (std::size_t i = 0; i < items.size(); ++i)
        dict[shared.text(value.keys()[i])] = shared.value(items[i]);
      return dict;
    }
  }
  return py::none{};
}

struct NothingShared {
  static py::object text(std::string_view text) { return python_text(text); }
  static py::object value(const Value& value) { return python_value(value); }
};

}  // namespace

py::str python_text(std::string_view text) {
  PyObject* const made_text =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  if (made_text == nullptr) throw py::error_already_set{};
  return py::reinterpret_steal<py::str>(made_text);
}

std::string text_of(py::handle text) {
  Py_ssize_t size = 0;
  if (const char* const utf8 = PyUnicode_AsUTF8AndSize(text.ptr(), &size)) {
    return {utf8, static_cast<std::size_t>(size)};
  }
  PyErr_Clear();  // a lone surrogate, or no str at all
  const auto bytes =
      py::reinterpret_steal<py::bytes>(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "replace"));
  if (!bytes) throw py::error_already_set{};
  return bytes;
}

py::object python_value(const Value& value) {
  NothingShared nothing;
  return made(value, nothing);
}

Value value_of(py::handle object) { return value_at(object, 0); }

py::object SharedValues::text(std::string_view text) {
  py::object& shared = texts_[text];
  if (!shared) shared = python_text(text);
  return shared;
}

py::object SharedValues::value(const Value& value) {
  if (value.kind() != Value::Kind::kTuple) return made(value, *this);
  const void* const place = &value.items();
  if (const auto found = tuples_.find(place); found != tuples_.end()) return found->second;
  py::object tuple = made(value, *this);
  tuples_.emplace(place, tuple);
  return tuple;
}

}  // namespace tracelens::python
