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

PyObject* or_throw(PyObject* made) {
  if (made == nullptr) throw py::error_already_set{};
  return made;
}

PyObject* held(PyObject* object) {
  Py_INCREF(object);
  return object;
}

// Null, numbers and truth values.
PyObject* made_scalar(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kBool:
      return held(value.as_bool() ? Py_True : Py_False);
    case Value::Kind::kInt:
      return or_throw(PyLong_FromLongLong(value.as_int()));
    case Value::Kind::kReal:
      return or_throw(PyFloat_FromDouble(value.as_real()));
    default:
      return held(Py_None);
  }
}

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

py::object python_value(const Value& value) { return SharedValues{}.value(value); }

Value value_of(py::handle object) { return value_at(object, 0); }

PyObject* SharedValues::made_text(std::string_view text) {
  py::object& shared = texts_[text];
  if (!shared) shared = python_text(text);
  return held(shared.ptr());
}

py::object SharedValues::text(std::string_view text) {
  return py::reinterpret_steal<py::object>(made_text(text));
}

py::object SharedValues::value(const Value& value) {
  return py::reinterpret_steal<py::object>(made(value));
}

PyObject* SharedValues::text_at(const std::string& text) {
  PyObject*& at = at_[&text];
  if (at == nullptr) at = this->text(text).ptr();  // texts_ holds it
  return held(at);
}

PyObject* SharedValues::made(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kText:
      return text_at(value.as_text());
    case Value::Kind::kList: {
      if (value.items().empty() || !value.items().front().is_text()) return made_sequence(value);
      if (PyObject* const list = groups_[&value.items()].ptr(); list != nullptr)
        return or_throw(PyList_GetSlice(list, 0, PY_SSIZE_T_MAX));  // each is its owner's to change
      return shared_group(value);
    }
    case Value::Kind::kTuple:
      if (PyObject* const tuple = groups_[&value.items()].ptr(); tuple != nullptr)
        return held(tuple);
      return shared_group(value);
    case Value::Kind::kDict:
      return made_dict(value);
    default:
      return made_scalar(value);
  }
}

// The sequence is made first: that may bring others of their own into the map.
PyObject* SharedValues::shared_group(const Value& value) {
  auto fresh = py::reinterpret_steal<py::object>(made_sequence(value));
  PyObject* const group = held(fresh.ptr());
  groups_[&value.items()] = std::move(fresh);
  return group;
}

PyObject* SharedValues::made_sequence(const Value& value) {
  const std::vector<Value>& items = value.items();
  const auto size = static_cast<Py_ssize_t>(items.size());
  const bool is_list = value.kind() == Value::Kind::kList;
  const auto sequence =
      py::reinterpret_steal<py::object>(or_throw(is_list ? PyList_New(size) : PyTuple_New(size)));
  for (Py_ssize_t i = 0; i < size; ++i) {
    PyObject* const item = made(items[static_cast<std::size_t>(i)]);
    if (is_list)
      PyList_SET_ITEM(sequence.ptr(), i, item);
    else
      PyTuple_SET_ITEM(sequence.ptr(), i, item);
  }
  return sequence.inc_ref().ptr();
}

PyObject* SharedValues::made_dict(const Value& value) {
  const std::vector<py::object>& keys = this->keys(value.keys());
  const auto dict = py::reinterpret_steal<py::object>(or_throw(PyDict_New()));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto item = py::reinterpret_steal<py::object>(made(value.items()[i]));
    if (PyDict_SetItem(dict.ptr(), keys[i].ptr(), item.ptr()) != 0) throw py::error_already_set{};
  }
  return dict.inc_ref().ptr();
}

const std::vector<py::object>& SharedValues::keys(const std::vector<std::string>& keys) {
  // Each in a place of its own: the values of a dict may bring dicts, and the map may move.
  std::unique_ptr<std::vector<py::object>>& made = keys_[&keys];
  if (!made || made->size() != keys.size()) {
    made = std::make_unique<std::vector<py::object>>();
    for (const std::string& key : keys) made->push_back(text(key));
  }
  return *made;
}

}  // namespace tracelens::python
