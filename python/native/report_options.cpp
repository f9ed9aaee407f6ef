#include "report_options.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "errors.hpp"
#include "python_values.hpp"

namespace tracelens::python {
namespace py = pybind11;
namespace {

using Setter = void (*)(ReportOptions&, const py::handle&);

template <auto Member>
void set(ReportOptions& options, const py::handle& value) {
  using Type = std::decay_t<decltype(options.*Member)>;
  options.*Member = value.cast<Type>();
}

constexpr std::pair<std::string_view, Setter> kSetters[] = {
    {"achievable_peaks", set<&ReportOptions::achievable_peaks>},
    {"also", set<&ReportOptions::also>},
    {"by_process", set<&ReportOptions::by_process>},
    {"call_stack", set<&ReportOptions::call_stack>},
    {"edition", [](ReportOptions& options,
                   const py::handle& value) { options.edition = edition_of(text_of(value)); }},
    {"first_occurrence", set<&ReportOptions::first_occurrence>},
    {"gpu", set<&ReportOptions::gpu>},
    {"gpu_file", set<&ReportOptions::gpu_file>},
    {"gpu_from_trace", set<&ReportOptions::gpu_from_trace>},
    {"group_by_kernel_count", set<&ReportOptions::group_by_kernel_count>},
    {"group_by_module", set<&ReportOptions::group_by_module>},
    {"histogram_bins", set<&ReportOptions::histogram_bins>},
    {"include_unlinked", set<&ReportOptions::include_unlinked>},
    {"inference", set<&ReportOptions::inference>},
    {"kernel_rules_file", set<&ReportOptions::kernel_rules_file>},
    {"link_by_correlation", set<&ReportOptions::link_by_correlation>},
    {"memory_timeline_file", set<&ReportOptions::memory_timeline_file>},
    {"micro_idle_us", set<&ReportOptions::micro_idle_us>},
    {"models_file", set<&ReportOptions::models_file>},
    {"most_rows", set<&ReportOptions::most_rows>},
    {"op_keywords", set<&ReportOptions::op_keywords>},
    {"overview", set<&ReportOptions::overview>},
    {"page",
     [](ReportOptions& options, const py::handle& value) {
       if (value.cast<bool>()) options.page.emplace();
     }},
    {"recompute", set<&ReportOptions::recompute>},
    {"sequences_as_hta", set<&ReportOptions::sequences_as_hta>},
    {"sequences_of", set<&ReportOptions::sequences_of>},
    {"short_kernel_us", set<&ReportOptions::short_kernel_us>},
    {"tables", set<&ReportOptions::tables>},
    {"threads", set<&ReportOptions::threads>},
    {"top_ops", set<&ReportOptions::top_ops>},
    {"top_short_kernels", set<&ReportOptions::top_short_kernels>},
    {"views", set<&ReportOptions::views>},
    {"without", set<&ReportOptions::without>},
};

}  // namespace

Edition edition_of(const std::string& name) {
  if (name == "extended") return Edition::kExtended;
  if (name == "reference") return Edition::kReference;
  throw TypedError{ErrorKind::kUsage,
                   "edition: expected \"extended\" or \"reference\", not " + name};
}

ReportOptions report_options(const py::dict& keywords) {
  ReportOptions options;
  for (const auto& [key, value] : keywords) {
    const std::string name = text_of(key);
    const auto* const found =
        std::ranges::find(kSetters, name, [](const auto& setter) { return setter.first; });
    if (found == std::end(kSetters))
      throw TypedError{ErrorKind::kUsage, name + ": a report has no such option"};
    try {
      found->second(options, value);
    } catch (const py::cast_error&) {
      throw py::type_error{name + ": a value of type " +
                           std::string{Py_TYPE(value.ptr())->tp_name} + " does not fit"};
    }
  }
  return options;
}

}  // namespace tracelens::python
