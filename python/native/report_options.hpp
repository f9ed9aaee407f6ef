// report_options.hpp: the keywords of Python's report() as ReportOptions: the same names and meanings.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <tracelens/report.hpp>

namespace tracelens::python {

// Throws UsageError for a name that is no option, TypeError for a value of another type.
[[nodiscard]] ReportOptions report_options(const pybind11::dict& keywords);
// "reference" or "extended".
[[nodiscard]] Edition edition_of(const std::string& name);

}  // namespace tracelens::python
