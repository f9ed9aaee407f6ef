// reports.cpp: the report of a trace, whole or one table of it.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <tracelens/overview.hpp>
#include <tracelens/query.hpp>
#include <tracelens/report.hpp>
#include <tracelens/sinks.hpp>
#include <tracelens/tables.hpp>
#include <utility>
#include <vector>

#include "errors.hpp"
#include "handle.hpp"
#include "models.hpp"
#include "parts.hpp"
#include "python_values.hpp"
#include "report_options.hpp"

namespace tracelens::python {
namespace py = pybind11;
namespace {

// The tables of a report live as long as it does.
std::vector<std::shared_ptr<Table>> tables_of(const std::shared_ptr<Report>& report) {
  std::vector<std::shared_ptr<Table>> tables;
  for (Table& table : report->tables) tables.emplace_back(report, &table);
  return tables;
}

void write(const Report& report, const std::string& output, const std::string& verb) {
  or_output_error(output, [&] { check_sink(output); });
  or_file_error(output, [&] { write_report(report, output, verb); });
}

// With every event, which the report itself does not have.
void write_events(const Report& report, const TraceHandle& handle, const py::dict& keywords,
                  const std::string& output) {
  const ReportOptions options = report_options(keywords);
  const py::gil_scoped_release unlocked;
  or_output_error(output, [&] { check_sink(output); });
  or_file_error(output, [&] { write_database(report, handle.shared_trace(), options, output); });
}

py::list texts_of(const std::vector<std::string>& texts) {
  py::list list;
  for (const std::string& text : texts) list.append(python_text(text));
  return list;
}

}  // namespace

void add_reports(py::module_& module) {
  using unlocked = py::call_guard<py::gil_scoped_release>;
  py::class_<Report, std::shared_ptr<Report>>(module, "Report")
      .def_property_readonly("title", [](const Report& self) { return python_text(self.title); })
      .def_property_readonly("trace_name",
                             [](const Report& self) { return python_text(self.trace_name); })
      .def_property_readonly("gpu", [](const Report& self) { return python_text(self.gpu); })
      .def_property_readonly("warnings", [](const Report& self) { return texts_of(self.warnings); })
      .def_property_readonly("edition",
                             [](const Report& self) {
                               return self.edition == Edition::kReference ? "reference"
                                                                          : "extended";
                             })
      .def_property_readonly("has_page", [](const Report& self) { return self.page != nullptr; })
      .def_property_readonly("tables", &tables_of)
      .def("overview_text",
           [](const Report& self, std::size_t width) {
             return python_text(self.overview ? overview_text(*self.overview, {.width = width})
                                              : "");
           })
      .def("first_tables",
           [](const Report& self, const std::string& verb) {
             std::vector<std::pair<std::string, std::size_t>> names;
             for (const Excerpt& excerpt : first_tables(self, verb))
               names.emplace_back(excerpt.table, excerpt.rows);
             return names;
           })
      .def("write", &write, py::arg("output"), py::arg("verb"), unlocked{})
      .def("write_database", &write_events, py::arg("trace"), py::arg("options"),
           py::arg("output"));
  module.def(
      "report_of",
      [](std::string title, std::string trace_name, std::string gpu,
         std::vector<std::string> warnings, const std::string& edition,
         const std::vector<std::shared_ptr<Table>>& tables) {
        auto report = std::make_shared<Report>();
        report->title = std::move(title);
        report->trace_name = std::move(trace_name);
        report->gpu = std::move(gpu);
        report->warnings = std::move(warnings);
        report->edition = edition_of(edition);
        for (const std::shared_ptr<Table>& table : tables) report->tables.push_back(*table);
        return report;
      },
      py::arg("title"), py::arg("trace_name"), py::arg("gpu"), py::arg("warnings"),
      py::arg("edition"), py::arg("tables"));
  module.def(
      "report",
      [](const TraceHandle& handle, const py::dict& keywords, const py::list& models,
         const std::vector<std::pair<std::shared_ptr<Table>, std::string>>& more_tables,
         const py::object& category_of) {
        const PythonModels mine{models};
        PythonCategories categories{category_of};
        ReportOptions options = report_options(keywords);
        options.models = mine.set();
        options.category_of = categories.asked();
        for (const auto& [table, after] : more_tables)
          options.more_tables.push_back(
              {.make = [table = table](const Trace&, const Tree&) { return std::vector{*table}; },
               .after = after});
        auto report = std::make_shared<Report>();
        {
          const py::gil_scoped_release unlocked_here;
          *report = or_usage_error([&] { return make_report(handle.trace(), options); });
        }
        mine.rethrow();
        categories.rethrow();
        for (std::string& warning : mine.warnings()) report->warnings.push_back(std::move(warning));
        return report;
      },
      py::arg("trace"), py::arg("options"), py::arg("models") = py::list{},
      py::arg("more_tables") = py::list{}, py::arg("category_of") = py::none{});
  module.def(
      "table",
      [](const TraceHandle& handle, const std::string& name,
         const py::dict& keywords) -> std::shared_ptr<Table> {
        const ReportOptions options = report_options(keywords);
        const py::gil_scoped_release unlocked_here;
        std::optional<Table> table =
            or_usage_error([&] { return make_table(handle.trace(), name, options); });
        return table ? std::make_shared<Table>(std::move(*table)) : nullptr;
      },
      py::arg("trace"), py::arg("name"), py::arg("options"));
  module.def("table_list", &table_list);
}

}  // namespace tracelens::python
