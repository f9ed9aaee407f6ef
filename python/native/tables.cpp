// tables.cpp: tables of the core. Numbers are NumPy arrays over the table's own memory.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tracelens/sinks.hpp>
#include <tracelens/table.hpp>
#include <tracelens/table_text.hpp>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "errors.hpp"
#include "parts.hpp"
#include "python_values.hpp"

namespace tracelens::python {
namespace py = pybind11;
namespace {

constexpr std::array kKindNames = {"text", "integer", "real", "bool", "nested"};

Kind kind_of(const std::string& name) {
  for (std::size_t i = 0; i < kKindNames.size(); ++i)
    if (name == kKindNames[i]) return static_cast<Kind>(i);
  throw TypedError{ErrorKind::kUsage,
                   name + ": expected a kind of column: text, integer, real, bool or nested"};
}

const Table::Column& column_of(const Table& table, std::size_t index) {
  if (index >= table.columns().size()) throw py::index_error{"no such column"};
  return table.columns()[index];
}

// (name, kind, unit, description) each.
py::list columns_of(const Table& table) {
  py::list all;
  for (const Table::Column& column : table.columns()) {
    const ColumnSpec& spec = column.spec();
    all.append(py::make_tuple(python_text(spec.name),
                              kKindNames[static_cast<std::size_t>(spec.kind)],
                              python_text(spec.unit), python_text(spec.description)));
  }
  return all;
}

bool has_numbers(const Table::Column& column) {
  const Kind kind = column.spec().kind;
  return kind == Kind::kInteger || kind == Kind::kBool || kind == Kind::kReal;
}

// The cells of a column of texts or nested cells into `objects`, new references; None where one is missing.
void make_objects(const Table::Column& column, SharedValues& shared, PyObject** objects) {
  const bool has_texts = column.spec().kind == Kind::kText;
  const std::string* last = nullptr;  // in most columns of texts the next cell has the same
  for (std::size_t row = 0; row < column.size(); ++row) {
    if (column.is_missing(row)) {
      objects[row] = py::none{}.release().ptr();
    } else if (!has_texts) {
      objects[row] = shared.made(column.nested()[row]);
    } else if (const std::string& text = column.texts()[row]; last != nullptr && *last == text) {
      objects[row] = Py_NewRef(objects[last - column.texts().data()]);
    } else {
      objects[row] = shared.made_text(text);
      last = &text;
    }
  }
}

// Numbers as they lie in memory; texts and nested cells as a list.
py::object values_of(const py::object& self, std::size_t index) {
  const Table& table = *self.cast<std::shared_ptr<Table>>();
  const Table::Column& column = column_of(table, index);
  if (column.spec().kind == Kind::kReal) return array_over(column.reals(), self);
  if (has_numbers(column)) return array_over(column.integers(), self);
  SharedValues shared;
  const PausedCollector paused;
  py::list cells{column.size()};
  if (column.size() > 0) make_objects(column, shared, PySequence_Fast_ITEMS(cells.ptr()));
  return cells;
}

// An array of objects for each column of texts or nested cells, None for the others. Equal texts of
// all columns are one object.
py::list object_columns(const Table& table) {
  SharedValues shared;
  const PausedCollector paused;
  py::list columns;
  for (const Table::Column& column : table.columns()) {
    if (has_numbers(column)) {
      columns.append(py::none{});
      continue;
    }
    py::array cells{py::dtype{"O"}, std::vector<py::ssize_t>{std::ssize(column.present())}};
    make_objects(column, shared, static_cast<PyObject**>(cells.mutable_data()));
    columns.append(std::move(cells));
  }
  return columns;
}

// One uint8 per row: 0 where the cell is missing.
py::array present_of(const py::object& self, std::size_t index) {
  return array_over(column_of(*self.cast<std::shared_ptr<Table>>(), index).present(), self);
}

std::vector<ColumnSpec> specs_of(const Table& table) {
  std::vector<ColumnSpec> specs;
  for (const Table::Column& column : table.columns()) specs.push_back(column.spec());
  return specs;
}

// These rows of a table, in this order.
Table rows_of(const Table& table, std::span<const std::int64_t> rows) {
  const std::vector<ColumnSpec> specs = specs_of(table);
  Table taken{table.name(), table.description(), specs};
  std::vector<Cell> cells(specs.size());
  for (const std::int64_t row : rows) {
    if (row < 0 || static_cast<std::size_t>(row) >= table.rows())
      throw py::index_error{"no such row"};
    for (std::size_t i = 0; i < specs.size(); ++i)
      cells[i] = table.cell(static_cast<std::size_t>(row), i);
    taken.append(cells);
  }
  return taken;
}

Table sorted(const Table& table,
             const std::vector<std::pair<std::string, bool>>& keys) {  // (column, descending)
  Table copy = table;
  std::vector<SortKey> by;
  for (const auto& [column, descending] : keys)
    by.push_back({column, descending ? Order::kDescending : Order::kAscending});
  or_usage_error([&] { copy.sort_by(by); });
  return copy;
}

Cell cell_of(py::handle object, const ColumnSpec& spec) {
  if (object.is_none()) return Missing{};
  switch (spec.kind) {
    case Kind::kText:
      if (PyUnicode_Check(object.ptr())) return text_of(object);
      break;
    case Kind::kInteger:
      if (PyIndex_Check(object.ptr())) return object.cast<std::int64_t>();
      break;
    case Kind::kBool:
      return object.cast<bool>();
    case Kind::kReal:
      return object.cast<double>();
    case Kind::kNested:
      return value_of(object);
  }
  throw py::type_error{"column " + spec.name + ": expected " +
                       kKindNames[static_cast<std::size_t>(spec.kind)] + ", not " +
                       Py_TYPE(object.ptr())->tp_name};
}

using Specs = std::vector<std::array<std::string, 4>>;

Table empty_table(std::string name, std::string description, const Specs& columns) {
  std::vector<ColumnSpec> specs;
  for (const auto& [column, kind, unit, about] : columns)
    specs.push_back({column, kind_of(kind), unit, about});
  return {std::move(name), std::move(description), specs};
}

// From rows of cells, each as long as `columns`.
Table table_of_rows(std::string name, std::string description, const Specs& columns,
                    const py::iterable& rows) {
  Table table = empty_table(std::move(name), std::move(description), columns);
  std::vector<Cell> cells(columns.size());
  for (const py::handle row : rows) {
    const auto given = py::reinterpret_borrow<py::object>(row).cast<py::sequence>();
    if (given.size() != cells.size())
      throw TypedError{ErrorKind::kUsage, table.name() + ": a row of " +
                                              std::to_string(given.size()) +
                                              " cells, where the table has " +
                                              std::to_string(cells.size()) + " columns"};
    for (std::size_t i = 0; i < cells.size(); ++i)
      cells[i] = cell_of(py::object{given[i]}, table.columns()[i].spec());
    table.append(cells);
  }
  return table;
}

std::string csv_of(const Table& table) {
  std::string text;
  for (std::size_t i = 0; i < table.columns().size(); ++i) {
    if (i > 0) text += ',';
    append_csv_text(text, table.columns()[i].spec().name);
  }
  text += '\n';
  for (std::size_t row = 0; row < table.rows(); ++row) {
    for (std::size_t i = 0; i < table.columns().size(); ++i) {
      if (i > 0) text += ',';
      append_csv_cell(text, table.columns()[i], row);
    }
    text += '\n';
  }
  return text;
}

// The first rows as a person reads them, column by column.
py::list texts_for_people(const Table& table, std::size_t rows) {
  py::list columns;
  for (const Table::Column& column : table.columns()) {
    const HumanFormat format{column};
    py::list cells;
    for (std::size_t row = 0; row < std::min(rows, table.rows()); ++row)
      cells.append(python_text(format(row)));
    columns.append(
        py::make_tuple(python_text(column.spec().name), python_text(shown_unit(column.spec())),
                       python_text(column.spec().description), is_numeric(column.spec()), cells));
  }
  return columns;
}

void write_table(const Table& table, const std::string& output, bool raw) {
  or_output_error(output, [&] { check_sink(output); });
  or_file_error(output, [&] {
    write_tables({&table, 1}, output, {.title = table.name(), .csv_raw = raw});
  });
}

}  // namespace

void add_tables(py::module_& module) {
  using unlocked = py::call_guard<py::gil_scoped_release>;
  py::class_<Table, std::shared_ptr<Table>>(module, "Table")
      .def_property_readonly("name", [](const Table& table) { return python_text(table.name()); })
      .def_property_readonly("description",
                             [](const Table& table) { return python_text(table.description()); })
      .def("__len__", &Table::rows)
      .def_property_readonly("columns", &columns_of)
      .def("values", &values_of, py::arg("column"))
      .def("object_columns", &object_columns)
      .def("present", &present_of, py::arg("column"))
      .def("column",
           [](const py::object& self, std::size_t index) {
             const Table& table = *self.cast<std::shared_ptr<Table>>();
             const Kind kind = column_of(table, index).spec().kind;
             return py::make_tuple(kKindNames[static_cast<std::size_t>(kind)],
                                   values_of(self, index));
           })
      .def("take",
           [](const Table& table,
              const py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>& rows) {
             return rows_of(table, {rows.data(), static_cast<std::size_t>(rows.size())});
           })
      .def("sorted", &sorted, unlocked{})
      .def("csv", [](const Table& table) { return python_text(csv_of(table)); })
      .def(
          "text",
          [](const Table& table, std::size_t width, std::size_t rows) {
            return python_text(render_terminal(table, {.width = width, .max_rows = rows}));
          },
          py::arg("width"), py::arg("rows"))
      .def("texts_for_people", &texts_for_people, py::arg("rows"))
      .def("write", &write_table, py::arg("output"), py::arg("raw") = false, unlocked{});
  module.def("table_of_rows", &table_of_rows, py::arg("name"), py::arg("description"),
             py::arg("columns"), py::arg("rows"));
}

}  // namespace tracelens::python
