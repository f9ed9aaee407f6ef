// tables.cpp: tables of the core. Numbers are NumPy arrays over the table's own memory.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <tracelens/table.hpp>
#include <tuple>
#include <vector>

#include "parts.hpp"
#include "python_values.hpp"

namespace tracelens::python {
namespace py = pybind11;
namespace {

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::kText:
      return "text";
    case Kind::kInteger:
      return "integer";
    case Kind::kReal:
      return "real";
    case Kind::kBool:
      return "bool";
    case Kind::kNested:
      return "nested";
  }
  return "";
}

// A read-only array over memory that `owner` keeps alive.
template <class T>
py::array array_over(std::span<const T> values, const py::object& owner) {
  py::array array{py::dtype::of<T>(), {values.size()}, {sizeof(T)}, values.data(), owner};
  py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}

const Table::Column& column_of(const Table& table, std::size_t index) {
  if (index >= table.columns().size()) throw py::index_error{};
  return table.columns()[index];
}

// Numbers as they lie in memory; texts and nested cells as a list, None where a cell is missing.
py::object values_of(const py::object& self, std::size_t index) {
  const Table& table = *self.cast<std::shared_ptr<const Table>>();
  const Table::Column& column = column_of(table, index);
  const Kind kind = column.spec().kind;
  if (kind == Kind::kInteger || kind == Kind::kBool) return array_over(column.integers(), self);
  if (kind == Kind::kReal) return array_over(column.reals(), self);
  py::list cells{column.size()};
  for (std::size_t row = 0; row < column.size(); ++row) {
    if (column.is_missing(row))
      cells[row] = py::none{};
    else if (kind == Kind::kText)
      cells[row] = python_text(column.texts()[row]);
    else
      cells[row] = python_value(column.nested()[row]);
  }
  return cells;
}

}  // namespace

void add_tables(py::module_& module) {
  py::class_<Table, std::shared_ptr<Table>>(module, "Table")
      .def_property_readonly("name", &Table::name)
      .def_property_readonly("description", &Table::description)
      .def("__len__", &Table::rows)
      .def_property_readonly(
          "columns",
          [](const Table& table) {
            std::vector<std::tuple<std::string, std::string, std::string, std::string>> all;
            for (const Table::Column& column : table.columns())
              all.emplace_back(column.spec().name, kind_name(column.spec().kind),
                               column.spec().unit, column.spec().description);
            return all;
          })
      .def("values", &values_of)
      .def("present", [](const py::object& self, std::size_t index) {
        return array_over(column_of(*self.cast<std::shared_ptr<const Table>>(), index).present(),
                          self);
      });
}

}  // namespace tracelens::python
