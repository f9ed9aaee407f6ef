#include "python_values.hpp"

#include <cstddef>

namespace tracelens::python {
namespace py = pybind11;

py::str python_text(std::string_view text) {
  PyObject* const made =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  if (made == nullptr) throw py::error_already_set{};
  return py::reinterpret_steal<py::str>(made);
}

py::object python_value(const Value& value) {
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
      return python_text(value.as_text());
    case Value::Kind::kTuple: {
      py::tuple tuple{items.size()};
      for (std::size_t i = 0; i < items.size(); ++i) tuple[i] = python_value(items[i]);
      return tuple;
    }
    case Value::Kind::kList: {
      py::list list{items.size()};
      for (std::size_t i = 0; i < items.size(); ++i) list[i] = python_value(items[i]);
      return list;
    }
    case Value::Kind::kDict: {
      py::dict dict;
      for (std::size_t i = 0; i < items.size(); ++i)
        dict[python_text(value.keys()[i])] = python_value(items[i]);
      return dict;
    }
  }
  return py::none{};
}

}  // namespace tracelens::python
