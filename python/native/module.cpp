// module.cpp: the extension module `tracelens._native`. What it offers is wrapped by the Python files
// beside it; nothing here is meant to be called by users.
#include <pybind11/pybind11.h>

#include <tracelens/version.hpp>

#include "parts.hpp"

PYBIND11_MODULE(_native, module) {
  using namespace tracelens::python;
  module.attr("__version__") = tracelens::kVersion;
  add_errors(module);
  add_tables(module);
  add_trace(module);
  add_events(module);
  add_columns(module);
  add_event_view(module);
  add_tree_view(module);
  add_reports(module);
  add_arrow(module);
  add_compare(module);
  add_ranks(module);
  add_answers(module);
  add_models(module);
  add_scripts(module);
  add_rows(module);
  add_merged(module);
  add_query(module);
  add_fleet(module);
}
