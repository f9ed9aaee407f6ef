// trace.cpp: reading traces, and what a trace says about itself.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <tracelens/gpu.hpp>
#include <tracelens/read_trace.hpp>
#include <utility>
#include <vector>

#include "errors.hpp"
#include "handle.hpp"
#include "parts.hpp"
#include "python_values.hpp"
#include "reading.hpp"

namespace tracelens::python {
namespace py = pybind11;
namespace {

// `more`: members of ReadOptions by their names.
ReadOptions read_options(int threads, const py::dict& more) {
  ReadOptions options;
  options.threads = threads;
  for (const auto& [key, value] : more) {
    const std::string name = text_of(key);
    if (name == "salvage")
      options.salvage = value.cast<bool>();
    else if (name == "time_limit_s")
      options.time_limit_s = value.cast<int>();
    else if (name == "rename_kernels")
      options.rename_kernels = value.cast<bool>();
    else if (name == "command_lines")
      options.command_lines = value.cast<bool>();
    else if (name == "assume_dtype")
      options.assume_dtype = text_of(value);
    else
      throw py::type_error{"no such option of reading: " + name};
  }
  return options;
}

// Whether part of the trace could not be read.
bool is_incomplete(const Trace& trace) {
  return trace.source().cut_short ||
         std::ranges::find(trace.phases(), Phase::kDamaged) != trace.phases().end();
}

std::shared_ptr<TraceHandle> read_files(const std::vector<std::string>& paths, ReadOptions options,
                                        const py::object& progress) {
  return std::make_shared<TraceHandle>(or_input_error(paths, [&] {
    return read_watched(
        [&](const auto& on_progress) {
          options.on_progress = on_progress;
          return paths.size() == 1 ? read_trace(paths.front(), options) : read_job(paths, options);
        },
        progress);
  }));
}

std::shared_ptr<TraceHandle> read_buffer(const py::buffer& buffer, const std::string& name,
                                         ReadOptions options, const py::object& progress) {
  const py::buffer_info bytes = buffer.request();
  if (bytes.ndim != 1 || bytes.itemsize != 1 || (bytes.size > 0 && bytes.strides[0] != 1))
    throw py::type_error{"expected bytes that lie side by side"};
  const std::span span{static_cast<const char*>(bytes.ptr), static_cast<std::size_t>(bytes.size)};
  try {
    // The bytes are kept: what a trace leaves out of its events is read from them when it is asked for.
    auto kept = std::make_shared<const std::string>(span.begin(), span.end());
    return std::make_shared<TraceHandle>(read_watched(
                                             [&](const auto& on_progress) {
                                               options.on_progress = on_progress;
                                               return read_trace_bytes(name, *kept, options);
                                             },
                                             progress),
                                         kept);
  } catch (const Error& error) {
    throw TypedError{ErrorKind::kRead, error.what()};
  }
}

const char* recorder_name(Recorder recorder) {
  switch (recorder) {
    case Recorder::kUnknown:
      return "";
    case Recorder::kPyTorch:
      return "PyTorch";
    case Recorder::kJax:
      return "JAX";
    case Recorder::kRocprof:
      return "rocprof";
    case Recorder::kPerfetto:
      return "Perfetto";
    case Recorder::kRocpd:
      return "rocpd";
    case Recorder::kRpd:
      return "rpd";
    case Recorder::kNsight:
      return "Nsight Systems";
  }
  return "";
}

py::dict source_of(const TraceHandle& handle) {
  const Source& source = handle.trace().source();
  py::dict about;
  about["path"] = python_text(source.name);
  about["format"] = python_text(source.format);
  about["recorder"] = recorder_name(source.recorder);
  about["packing"] = python_text(source.packing);
  about["text_bytes"] = source.text_bytes;
  about["packed_bytes"] = source.packed_bytes;
  about["cut_short"] = source.cut_short;
  return about;
}

py::dict metadata_of(const TraceHandle& handle) {
  py::dict all;
  for (const MetadataEntry& entry : handle.trace().metadata())
    all[python_text(entry.key)] = python_value(entry.value);
  return all;
}

py::list warnings_of(const TraceHandle& handle) {
  py::list all;
  for (const Warnings::Entry& entry : handle.trace().warnings().entries())
    all.append(py::make_tuple(python_text(entry.what), entry.count, entry.first_byte));
  return all;
}

// From the start of the first event that has one to the end of the last.
std::int64_t span_ns(const TraceHandle& handle) {
  const Trace& trace = handle.trace();
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  for (const EventId event : trace.recorded_events()) {
    const std::int64_t start = trace.ts_ns()[event.row];
    if (trace.phase(event) != Phase::kComplete || start == kAbsent) continue;
    const std::int64_t length = trace.dur_ns()[event.row];
    first = std::min(first, start);
    last = std::max(last, length == kAbsent ? start : start + length);
  }
  return first > last ? 0 : last - first;
}

std::size_t gpu_count(const TraceHandle& handle) {
  const SparseColumn<std::int64_t>& devices = handle.trace().devices();
  std::set<std::int64_t> seen;
  for (std::size_t i = 0; i < devices.rows().size(); ++i)
    if (devices.values()[i] >= 0 && is_gpu(handle.trace().categories()[devices.rows()[i]]))
      seen.insert(devices.values()[i]);
  return seen.size();
}

template <class T>
std::size_t bytes_of(const SparseColumn<T>& column) {
  return column.rows().size_bytes() + column.values().size_bytes();
}

// What the columns and texts take; the tables behind them, which are small, are not counted.
std::size_t bytes_of(const TraceHandle& handle) {
  const Trace& trace = handle.trace();
  std::size_t bytes = trace.ts_ns().size_bytes() + trace.dur_ns().size_bytes() +
                      trace.correlations().size_bytes() + trace.names().size_bytes() +
                      trace.tracks().size_bytes() + trace.signatures().size_bytes() +
                      trace.categories().size_bytes() + trace.phases().size_bytes();
  for (const auto* const column : {&trace.external_ids(), &trace.sequence_numbers(),
                                   &trace.forward_threads(), &trace.streams(), &trace.devices()})
    bytes += bytes_of(*column);
  bytes += bytes_of(trace.call_stacks()) + bytes_of(trace.detail_texts()) +
           bytes_of(trace.memory_changes());
  for (std::uint32_t id = 0; id < trace.string_count(); ++id)
    bytes += sizeof(std::string_view) + trace.text(StringId{id}).size();
  return bytes;
}

}  // namespace

void add_trace(py::module_& module) {
  py::class_<TraceHandle, std::shared_ptr<TraceHandle>>(module, "Trace")
      .def("__len__", [](const TraceHandle& handle) { return handle.trace().size(); })
      .def_property_readonly("source", &source_of)
      .def_property_readonly("metadata", &metadata_of)
      .def_property_readonly("warnings", &warnings_of)
      .def_property_readonly(
          "is_incomplete", [](const TraceHandle& handle) { return is_incomplete(handle.trace()); })
      .def_property_readonly(
          "gpu", [](const TraceHandle& handle) { return python_text(device_name(handle.trace())); })
      .def_property_readonly("gpu_count", &gpu_count)
      .def_property_readonly("span_ns", &span_ns)
      .def_property_readonly("nbytes", [](const TraceHandle& handle) { return bytes_of(handle); })
      .def(
          "tree",
          [](const TraceHandle& handle, bool python_frames, bool link_by_correlation) {
            return TreeHandle{handle.shared_trace(),
                              handle.tree({.python_frames = python_frames,
                                           .link_by_correlation = link_by_correlation})};
          },
          py::kw_only{}, py::arg("python_frames") = false, py::arg("link_by_correlation") = false,
          py::call_guard<py::gil_scoped_release>{});
  py::class_<TreeHandle>(module, "Tree").def("__len__", [](const TreeHandle& handle) {
    return handle.tree->size();
  });
  module.def(
      "read",
      [](const std::string& path, int threads, const py::object& progress,
         const py::dict& options) {
        return read_files({path}, read_options(threads, options), progress);
      },
      py::arg("path"), py::kw_only{}, py::arg("threads") = 0, py::arg("progress") = py::none{},
      py::arg("options") = py::dict{});
  module.def(
      "read_job",
      [](const std::vector<std::string>& paths, int threads, const py::object& progress,
         const py::dict& options) {
        return read_files(paths, read_options(threads, options), progress);
      },
      py::arg("paths"), py::kw_only{}, py::arg("threads") = 0, py::arg("progress") = py::none{},
      py::arg("options") = py::dict{});
  module.def(
      "read_bytes",
      [](const py::buffer& bytes, const std::string& name, int threads, const py::object& progress,
         const py::dict& options) {
        return read_buffer(bytes, name, read_options(threads, options), progress);
      },
      py::arg("bytes"), py::kw_only{}, py::arg("name"), py::arg("threads") = 0,
      py::arg("progress") = py::none{}, py::arg("options") = py::dict{});
}

}  // namespace tracelens::python
