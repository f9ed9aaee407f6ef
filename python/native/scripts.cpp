// scripts.cpp: the reports of the Python TraceLens as tables, with its options: what the drop-in
// commands write into files.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <tracelens/collectives.hpp>
#include <tracelens/compare.hpp>
#include <tracelens/gpu.hpp>
#include <tracelens/graph_stitching.hpp>
#include <tracelens/pseudo_ops.hpp>
#include <tracelens/read_trace.hpp>
#include <tracelens/report.hpp>
#include <tracelens/rocm.hpp>
#include <utility>
#include <vector>

#include "errors.hpp"
#include "handle.hpp"
#include "parts.hpp"
#include "report_options.hpp"

namespace tracelens::python {
namespace py = pybind11;
namespace {

std::shared_ptr<Report> report_of_tables(std::vector<Table> tables) {
  auto report = std::make_shared<Report>();
  report->edition = Edition::kReference;
  report->tables = std::move(tables);
  return report;
}

// What a trace does not tell of its model: TL_MODEL and TL_TP of the environment do.
PseudoOpOptions pseudo_op_options() {
  PseudoOpOptions options{.edition = Edition::kReference};
  if (const char* const name = std::getenv("TL_MODEL")) options.model_name = name;
  if (const char* const ranks = std::getenv("TL_TP"))
    options.tensor_parallel = std::strtoll(ranks, nullptr, 10);
  return options;
}

// The trace with what the options add to it before anything is computed.
struct Preparation {
  std::string captures;  // folder of graph captures; empty: none
  bool stitch = false;   // whether graph launches are looked at
  bool pseudo_ops = false;
};

Trace prepared(Trace trace, const Preparation& how, const ReportOptions& options,
               GraphStitching& stitching) {
  if (how.stitch && how.captures.empty()) {
    stitching = unstitched_graphs(trace);
  } else if (how.stitch) {
    StitchedTrace stitched =
        stitch_graphs(std::move(trace), how.captures, {.edition = Edition::kReference});
    trace = std::move(stitched.trace);
    stitching = std::move(stitched.stitching);
  }
  if (!how.pseudo_ops) return trace;
  PseudoOpOptions made_up = pseudo_op_options();
  made_up.python_frames = options.call_stack || options.group_by_module || options.recompute ||
                          (how.stitch && stitching.merged);
  return add_pseudo_ops(std::move(trace), made_up);
}

std::shared_ptr<Report> perf_report(const std::string& path, const py::dict& keywords,
                                    bool pseudo_ops, const std::optional<std::string>& captures,
                                    const std::optional<std::string>& other,
                                    const std::optional<std::string>& other_captures) {
  ReportOptions options = report_options(keywords);
  const py::gil_scoped_release unlocked;
  or_usage_error([&] { check_options(options); });
  GraphStitching stitching, other_stitching;
  Preparation how{captures.value_or(""), options.inference, pseudo_ops};
  return or_input_error({path, other.value_or("")}, [&] {
    const Trace trace = prepared(read_trace(path), how, options, stitching);
    if (how.stitch) options.stitching = &stitching;
    auto report = std::make_shared<Report>(make_report(trace, options));
    if (other) {
      how.captures = other_captures.value_or("");
      add_other_trace(*report, trace, prepared(read_trace(*other), how, options, other_stitching),
                      options);
    }
    for (const std::string& note : stitching.notes) report->warnings.push_back(note);
    return report;
  });
}

// A trace with its graph captures, if a folder of them is given, and with pseudo ops, if wanted.
std::shared_ptr<TraceHandle> prepared_trace(const std::string& path,
                                            const std::optional<std::string>& captures,
                                            bool pseudo_ops, bool python_frames) {
  const py::gil_scoped_release unlocked;
  return or_input_error({path, captures.value_or("")}, [&] {
    Trace trace = read_trace(path);
    if (captures)
      trace = stitch_graphs(std::move(trace), *captures, {.edition = Edition::kReference}).trace;
    if (pseudo_ops) {
      PseudoOpOptions options = pseudo_op_options();
      options.python_frames = python_frames;
      trace = add_pseudo_ops(std::move(trace), options);
    }
    return std::make_shared<TraceHandle>(std::move(trace));
  });
}

std::shared_ptr<Report> collective_report(const std::vector<std::string>& paths,
                                          std::int64_t world_size,
                                          const std::vector<std::string>& aggregates, bool detailed,
                                          bool heatmap,
                                          const std::optional<std::int64_t>& gpus_per_node) {
  const py::gil_scoped_release unlocked;
  std::vector<RankFile> files;
  for (const std::string& path : paths) files.push_back({.path = path});
  CollectiveReportOptions options;
  options.edition = Edition::kReference;
  options.rank_by_position = true;
  options.world_size = world_size;
  options.aggregates = aggregates;
  options.detailed = detailed;
  options.heatmap = heatmap;
  options.gpus_per_node = gpus_per_node;
  return or_input_error(paths, [&] {
    return std::make_shared<Report>(make_collective_report(files, options).value());
  });
}

std::shared_ptr<Report> compared_reports(const std::vector<std::string>& reports,
                                         std::vector<std::string> names,
                                         std::vector<std::string> sheets) {
  const py::gil_scoped_release unlocked;
  CompareOptions options;
  options.edition = Edition::kReference;
  options.names = std::move(names);
  options.sheets = std::move(sheets);
  return or_input_error(
      reports, [&] { return std::make_shared<Report>(compare_reports(reports, options).report); });
}

std::shared_ptr<Report> rocprof_report(const std::string& path, RocprofTableOptions options) {
  const py::gil_scoped_release unlocked;
  return or_input_error({path}, [&] {
    const Trace trace = read_trace(path);
    if (trace.source().recorder != Recorder::kRocprof)
      throw Error{path, "not a rocprofv3 file: it has no \"rocprofiler-sdk-tool\""};
    return report_of_tables(rocprof_tables(trace, options));
  });
}

// Tables, and what the Markdown page of the same says.
std::pair<std::shared_ptr<Report>, std::string> activity_report(const std::string& path,
                                                                const HipActivityOptions& options) {
  const py::gil_scoped_release unlocked;
  return or_input_error({path}, [&] {
    const Trace trace = read_trace(path);
    return std::pair{report_of_tables(hip_activity_tables(trace, options)),
                     hip_activity_markdown(trace, options)};
  });
}

std::shared_ptr<Report> api_report(const std::string& path, const HipApiOptions& options) {
  const py::gil_scoped_release unlocked;
  return or_input_error(
      {path}, [&] { return report_of_tables({hip_api_table(read_trace(path), options)}); });
}

std::shared_ptr<Report> copy_report(const std::string& path) {
  const py::gil_scoped_release unlocked;
  return or_input_error({path},
                        [&] { return report_of_tables({memory_copy_table(read_trace(path))}); });
}

std::pair<std::shared_ptr<Report>, std::string> genesis(const std::string& folder,
                                                        const GenesisOptions& options) {
  const py::gil_scoped_release unlocked;
  return or_input_error({folder}, [&] {
    GenesisReport report = genesis_report(folder, options);
    return std::pair{report_of_tables(std::move(report.tables)), std::move(report.summary)};
  });
}

// As the Python TraceLens's file of a platform has them; None: no such GPU.
py::object gpu_figures(const std::string& name) {
  for (const Gpu& gpu : known_gpus()) {
    if (gpu.name != name) continue;
    py::dict peaks;
    for (const auto& [spec, tflops] :
         gpu.achievable_tflops.empty() ? gpu.peak_tflops : gpu.achievable_tflops)
      peaks[py::str{spec}] = tflops;
    py::dict figures;
    figures["name"] = gpu.name;
    figures["mem_bw_gbps"] = gpu.memory_gbps;
    figures["memory_gb"] = gpu.memory_gb;
    figures["max_achievable_tflops"] = peaks;
    return figures;
  }
  return py::none{};
}

void add_option_classes(py::module_& module) {
  py::class_<RocprofTableOptions>(module, "RocprofTableOptions")
      .def(py::init<>())
      .def_readwrite("kernel_summary", &RocprofTableOptions::kernel_summary)
      .def_readwrite("kernel_details", &RocprofTableOptions::kernel_details)
      .def_readwrite("short_kernels", &RocprofTableOptions::short_kernels)
      .def_readwrite("short_kernel_us", &RocprofTableOptions::short_kernel_us)
      .def_readwrite("histogram_bins", &RocprofTableOptions::histogram_bins)
      .def_readwrite("top_kernels", &RocprofTableOptions::top_kernels);
  py::class_<HipActivityOptions>(module, "HipActivityOptions")
      .def(py::init<>())
      .def_readwrite("merge_kernels", &HipActivityOptions::merge_kernels)
      .def_readwrite("min_tid", &HipActivityOptions::min_tid)
      .def_readwrite("max_tid", &HipActivityOptions::max_tid)
      .def_readwrite("min_event_ns", &HipActivityOptions::min_event_ns)
      .def_readwrite("top_xla", &HipActivityOptions::top_xla)
      .def_readwrite("kernel_summary", &HipActivityOptions::kernel_summary)
      .def_readwrite("hip_summary", &HipActivityOptions::hip_summary)
      .def_readwrite("include_rccl", &HipActivityOptions::include_rccl)
      .def_readwrite("percent_of_compute", &HipActivityOptions::percent_of_compute)
      .def_readwrite("group_by_config", &HipActivityOptions::group_by_config)
      .def_readwrite("group_by_stream", &HipActivityOptions::group_by_stream)
      .def_readwrite("group_by_operation", &HipActivityOptions::group_by_operation)
      .def_readwrite("kernel_rows", &HipActivityOptions::kernel_rows)
      .def_readwrite("hip_rows", &HipActivityOptions::hip_rows);
  py::class_<HipApiOptions>(module, "HipApiOptions")
      .def(py::init<>())
      .def_readwrite("exclude_kernels", &HipApiOptions::exclude_kernels)
      .def_readwrite("all_kernels", &HipApiOptions::all_kernels)
      .def_readwrite("other_calls", &HipApiOptions::other_calls);
  py::class_<GenesisOptions>(module, "GenesisOptions")
      .def(py::init<>())
      .def_readwrite("kernel_details", &GenesisOptions::kernel_details)
      .def_readwrite("short_kernels", &GenesisOptions::short_kernels)
      .def_readwrite("short_kernel_us", &GenesisOptions::short_kernel_us)
      .def_readwrite("histogram_bins", &GenesisOptions::histogram_bins)
      .def_readwrite("gap_ms", &GenesisOptions::gap_ms)
      .def_readwrite("fallback_s", &GenesisOptions::fallback_s);
}

}  // namespace

void add_scripts(py::module_& parent) {
  py::module_ module = parent.def_submodule("scripts", "The reports of the Python TraceLens.");
  add_option_classes(module);
  module.def("perf_report", &perf_report, py::arg("path"), py::arg("options"), py::kw_only{},
             py::arg("pseudo_ops") = false, py::arg("captures") = py::none(),
             py::arg("other") = py::none(), py::arg("other_captures") = py::none());
  module.def("prepared_trace", &prepared_trace, py::arg("path"), py::kw_only{},
             py::arg("captures") = py::none(), py::arg("pseudo_ops") = false,
             py::arg("python_frames") = false);
  module.def("collective_report", &collective_report, py::arg("paths"), py::arg("world_size"),
             py::arg("aggregates"), py::arg("detailed"), py::arg("heatmap"),
             py::arg("gpus_per_node"));
  module.def("compare_reports", &compared_reports, py::arg("reports"), py::arg("names"),
             py::arg("sheets"));
  module.def("rocprof_report", &rocprof_report, py::arg("path"), py::arg("options"));
  module.def("activity_report", &activity_report, py::arg("path"), py::arg("options"));
  module.def("api_report", &api_report, py::arg("path"), py::arg("options"));
  module.def("copy_report", &copy_report, py::arg("path"));
  module.def("genesis_report", &genesis, py::arg("folder"), py::arg("options"));
  module.def("gpu_figures", &gpu_figures, py::arg("name"));
  module.def("gpu_names", &known_gpu_names);
}

}  // namespace tracelens::python
