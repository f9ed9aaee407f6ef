// parts.hpp: the parts of the extension module. Each adds its classes and functions; module.cpp calls
// them in this order, so that a part may name the classes of those before it.
#pragma once

#include <pybind11/pybind11.h>

namespace tracelens::python {

void add_errors(pybind11::module_& module);
void add_tables(pybind11::module_& module);
void add_trace(pybind11::module_& module);
void add_events(pybind11::module_& module);
void add_columns(pybind11::module_& module);
void add_event_view(pybind11::module_& module);
void add_tree_view(pybind11::module_& module);
void add_reports(pybind11::module_& module);
void add_arrow(pybind11::module_& module);
void add_compare(pybind11::module_& module);
void add_ranks(pybind11::module_& module);
void add_answers(pybind11::module_& module);
void add_models(pybind11::module_& module);
void add_scripts(pybind11::module_& module);
void add_rows(pybind11::module_& module);
void add_merged(pybind11::module_& module);
void add_query(pybind11::module_& module);
void add_fleet(pybind11::module_& module);

}  // namespace tracelens::python
