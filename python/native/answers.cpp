// answers.cpp: single questions about a trace: what slows it down, where its ops stand against the
// roofline, and how to run one of them again.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tracelens/diagnose.hpp>
#include <tracelens/replay.hpp>
#include <tracelens/roofline.hpp>
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

// --- diagnosis ---
std::shared_ptr<Diagnosis> diagnose_trace(const TraceHandle& handle, const std::string& gpu,
                                          const std::string& gpu_file, std::string steps,
                                          double min_saving_percent, std::vector<std::string> only,
                                          std::vector<std::string> skip, std::string rules_file,
                                          std::optional<double> link_gbps,
                                          std::optional<double> host_gbps, bool corrects_overhead,
                                          const TraceHandle* against, const py::list& models,
                                          int threads) {
  const PythonModels mine{models};
  const DiagnoseOptions options{.threads = threads,
                                .gpu = {.name = gpu, .file = gpu_file},
                                .steps = std::move(steps),
                                .min_saving_percent = min_saving_percent,
                                .only = std::move(only),
                                .skip = std::move(skip),
                                .rules_file = std::move(rules_file),
                                .link_gbps = link_gbps,
                                .host_gbps = host_gbps,
                                .corrects_overhead = corrects_overhead,
                                .models = mine.set(),
                                .against = against == nullptr ? nullptr : &against->trace()};
  auto diagnosis = std::make_shared<Diagnosis>();
  {
    const py::gil_scoped_release unlocked;
    *diagnosis = or_usage_error([&] { return diagnose(handle.trace(), options); });
  }
  mine.rethrow();
  return diagnosis;
}

py::list texts(const std::vector<std::string>& all) {
  py::list list;
  for (const std::string& text : all) list.append(python_text(text));
  return list;
}

py::dict finding_dict(const Finding& finding) {
  py::dict about;
  about["id"] = python_text(finding.id);
  about["title"] = python_text(finding.title);
  about["severity"] = python_text(severity_name(finding.severity));
  about["confidence"] = python_text(confidence_name(finding.confidence));
  about["verdict"] = python_text(finding.verdict);
  about["saving_ns"] = finding.saving_ns;
  about["saving_percent"] = finding.saving_percent;
  about["formula"] = python_text(finding.formula);
  about["locked_by"] = python_text(finding.locked_by);
  about["tries"] = texts(finding.tries);
  py::list where;
  for (const FindingPlace& place : finding.where) {
    py::dict each;
    each["kind"] = python_text(place.kind);
    each["name"] = python_text(place.name);
    each["python"] = python_text(place.python);
    each["module"] = python_text(place.module);
    each["shape"] = python_text(place.shape);
    each["time_ns"] = place.time_ns;
    each["count"] = place.count;
    where.append(each);
  }
  about["where"] = where;
  py::list evidence;
  for (const Evidence& proof : finding.evidence) {
    py::dict each, key;
    for (const auto& [column, text] : proof.key) key[python_text(column)] = python_text(text);
    each["table"] = python_text(proof.table);
    each["key"] = key;
    each["column"] = python_text(proof.column);
    each["value"] = proof.value;
    each["unit"] = python_text(proof.unit);
    evidence.append(each);
  }
  about["evidence"] = evidence;
  return about;
}

// --- roofline ---
std::shared_ptr<Roofline> roofline_of(const TraceHandle& handle, const std::string& gpu,
                                      const std::string& gpu_file, bool achievable_peaks,
                                      const std::string& edition, const py::list& models) {
  const PythonModels mine{models};
  const RooflineOptions options{.edition = edition_of(edition),
                                .models = mine.set(),
                                .peaks = achievable_peaks ? Peaks::kAchievable : Peaks::kDatasheet};
  auto roofline = std::make_shared<Roofline>();
  {
    const py::gil_scoped_release unlocked;
    *roofline = or_usage_error([&] {
      const std::optional<Gpu> peaks = chosen_gpu({.name = gpu, .file = gpu_file}, &handle.trace());
      if (!peaks)
        throw Error{"gpu", "the trace names no GPU whose figures are known; known are " +
                               known_gpu_names()};
      return measure_roofline(handle.trace(), *peaks, options);
    });
  }
  mine.rethrow();
  return roofline;
}

// --- replay ---
std::string script_of(const TraceHandle& handle, std::vector<std::uint64_t> uids,
                      std::vector<std::string> names, std::optional<std::size_t> top) {
  return or_usage_error([&] {
    const Replay replay = choose_replay(
        handle.trace(), {.top = top, .names = std::move(names), .uids = std::move(uids)});
    return replay_script(replay);
  });
}

}  // namespace

void add_answers(py::module_& module) {
  using unlocked = py::call_guard<py::gil_scoped_release>;
  py::class_<Diagnosis, std::shared_ptr<Diagnosis>>(module, "Diagnosis")
      .def_property_readonly("verdict",
                             [](const Diagnosis& self) { return python_text(self.verdict); })
      .def_property_readonly("gpu", [](const Diagnosis& self) { return python_text(self.gpu); })
      .def_readonly("length_ns", &Diagnosis::length_ns)
      .def_readonly("gpu_busy_ns", &Diagnosis::gpu_busy_ns)
      .def_readonly("gpu_idle_ns", &Diagnosis::gpu_idle_ns)
      .def_readonly("saving_all_ns", &Diagnosis::saving_all_ns)
      .def_property_readonly("steps", [](const Diagnosis& self) { return texts(self.steps); })
      .def_property_readonly("quality",
                             [](const Diagnosis& self) {
                               py::list notes;
                               for (const QualityNote& note : self.quality)
                                 notes.append(python_text(note.text));
                               return notes;
                             })
      .def_property_readonly("findings",
                             [](const Diagnosis& self) {
                               py::list all;
                               for (const Finding& finding : self.findings)
                                 all.append(finding_dict(finding));
                               return all;
                             })
      .def_property_readonly("tables", &diagnosis_tables)
      .def("text",
           [](const Diagnosis& self, std::size_t width, std::size_t top) {
             return python_text(diagnosis_text(self, {.width = width, .top = top}));
           })
      .def(
          "check",
          [](const Diagnosis& self, const std::vector<std::string>& gates) {
            py::list all;
            for (const GateOutcome& gate : or_usage_error([&] { return check_gates(self, gates); }))
              all.append(py::make_tuple(gate.gate, gate.passed, gate.evidence, gate.summary));
            return all;
          })
      .def(
          "write",
          [](const Diagnosis& self, const std::string& output) {
            or_output_error(output, [&] { check_diagnosis_output(output); });
            or_file_error(output, [&] { write_diagnosis(self, output); });
          },
          unlocked{});
  module.def("diagnose", &diagnose_trace, py::arg("trace"), py::kw_only{}, py::arg("gpu"),
             py::arg("gpu_file"), py::arg("steps"), py::arg("min_saving_percent"), py::arg("only"),
             py::arg("skip"), py::arg("rules_file"), py::arg("link_gbps"), py::arg("host_gbps"),
             py::arg("corrects_overhead"), py::arg("against"), py::arg("models"),
             py::arg("threads"));

  py::class_<Roofline, std::shared_ptr<Roofline>>(module, "Roofline")
      .def_property_readonly("gpu", [](const Roofline& self) { return python_text(self.gpu.name); })
      .def_property_readonly("covered_percent", &Roofline::covered)
      .def("table", &roofline_table)
      .def("svg", [](const Roofline& self, std::string trace_name, std::size_t labelled) {
        return python_text(
            roofline_svg(self, {.trace_name = std::move(trace_name), .labelled = labelled}));
      });
  module.def("roofline", &roofline_of, py::arg("trace"), py::kw_only{}, py::arg("gpu"),
             py::arg("gpu_file"), py::arg("achievable_peaks"), py::arg("edition"),
             py::arg("models"));

  module.def("replay", &script_of, py::arg("trace"), py::kw_only{}, py::arg("uids"),
             py::arg("names"), py::arg("top"), unlocked{});
}

}  // namespace tracelens::python
