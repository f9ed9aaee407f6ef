// compare.cpp: what changed between runs: reports side by side, and two traces call by call.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <tracelens/compare.hpp>
#include <tracelens/sinks.hpp>
#include <utility>
#include <vector>

#include "errors.hpp"
#include "handle.hpp"
#include "parts.hpp"
#include "python_values.hpp"
#include "report_options.hpp"

namespace tracelens::python {
namespace py = pybind11;
namespace {

std::shared_ptr<Comparison> compare(const std::vector<std::string>& inputs,
                                    std::vector<std::string> names, std::vector<std::string> sheets,
                                    std::vector<std::string> gates, const std::string& edition,
                                    const py::dict& report) {
  CompareOptions options{.names = std::move(names),
                         .sheets = std::move(sheets),
                         .edition = edition_of(edition),
                         .report = report_options(report),
                         .gates = std::move(gates)};
  const py::gil_scoped_release unlocked;
  return or_input_error(
      inputs, [&] { return std::make_shared<Comparison>(compare_reports(inputs, options)); });
}

std::shared_ptr<TraceDiff> diff(const TraceHandle& first, const TraceHandle& second,
                                const std::string& edition, bool python_frames,
                                bool prune_idle_roots, bool page) {
  DiffOptions options{.edition = edition_of(edition),
                      .python_frames = python_frames,
                      .prune_idle_roots = prune_idle_roots};
  if (page) options.page.emplace();
  const py::gil_scoped_release unlocked;
  return or_usage_error([&] {
    return std::make_shared<TraceDiff>(diff_traces(first.trace(), second.trace(), options));
  });
}

}  // namespace

void add_compare(py::module_& module) {
  using unlocked = py::call_guard<py::gil_scoped_release>;
  py::class_<Comparison, std::shared_ptr<Comparison>>(module, "Comparison")
      .def_property_readonly("report",
                             [](const std::shared_ptr<Comparison>& self) {
                               return std::shared_ptr<Report>{self, &self->report};
                             })
      .def_property_readonly("key_tables",
                             [](const std::shared_ptr<Comparison>& self) {
                               std::vector<std::shared_ptr<Table>> tables;
                               for (Table& table : self->key_tables)
                                 tables.emplace_back(self, &table);
                               return tables;
                             })
      .def_property_readonly("conclusion",
                             [](const Comparison& self) { return python_text(self.conclusion); })
      .def_property_readonly("passed", &Comparison::passed)
      .def_property_readonly(
          "gates",
          [](const Comparison& self) {
            py::list all;
            for (const GateOutcome& gate : self.gates)
              all.append(py::make_tuple(gate.gate, gate.passed, gate.evidence, gate.summary));
            return all;
          })
      .def(
          "write",
          [](const Comparison& self, const std::string& output) {
            or_output_error(output, [&] { check_sink(output); });
            or_file_error(output, [&] { write_comparison(self, output); });
          },
          unlocked{})
      .def(
          "write_gates",
          [](const Comparison& self, const std::string& output) {
            or_file_error(output, [&] { write_gates(self, output); });
          },
          unlocked{});
  py::class_<TraceDiff, std::shared_ptr<TraceDiff>>(module, "TraceDiff")
      .def_property_readonly("report",
                             [](const std::shared_ptr<TraceDiff>& self) {
                               return std::shared_ptr<Report>{self, &self->report};
                             })
      .def_readonly("aligned", &TraceDiff::aligned)
      .def_property_readonly("note", [](const TraceDiff& self) { return python_text(self.note); })
      .def_property_readonly("tree_text",
                             [](const TraceDiff& self) { return python_text(self.tree_text); })
      .def(
          "write",
          [](const TraceDiff& self, const std::string& output) {
            or_file_error(output, [&] { write_diff(self, output); });
          },
          unlocked{});
  module.def("compare", &compare, py::arg("inputs"), py::kw_only{}, py::arg("names"),
             py::arg("sheets"), py::arg("gates"), py::arg("edition"), py::arg("report"));
  module.def("diff", &diff, py::arg("first"), py::arg("second"), py::kw_only{}, py::arg("edition"),
             py::arg("python_frames"), py::arg("prune_idle_roots"), py::arg("page"));
}

}  // namespace tracelens::python
